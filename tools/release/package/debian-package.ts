import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root } from "../../shared/checkout.ts";
import { runCommand } from "../../shared/run-command.ts";
import { controlFile, copyrightFile, debianChangelog, lintianOverrides } from "./debian-control.ts";
import { type PackagedProgram, type PackageFacts, type PackageFile, readableFile } from "./facts.ts";
import { compressed, DOCUMENTS, sharedFiles } from "./shared-files.ts";

/** Writes the files of a Debian package into a directory, in the form that `dpkg-deb --build` packs. */
export async function writePackageTree(tree: string, facts: PackageFacts, program: PackagedProgram): Promise<void> {
  const files = [
    ...sharedFiles(facts, program, "/usr/share/zsh/vendor-completions"),
    ...debianFiles(facts, program),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const file of files) await place(tree, file);
  const settings = files.filter(({ kind }) => kind === "settings");
  const size = files.reduce((sum, { content }) => sum + content.size, 0);
  const control = {
    control: controlFile(facts, size),
    conffiles: settings.map(({ path }) => `${path}\n`).join(""),
    md5sums: await checksums(files.filter((file) => !settings.includes(file))),
  };
  for (const [name, content] of Object.entries(control)) {
    await place(tree, readableFile(`/DEBIAN/${name}`, content, "plain"));
  }
  for (const name of readdirSync(join(root, "deploy/debian"))) {
    const script = readableFile(`/DEBIAN/${name}`, readFileSync(join(root, "deploy/debian", name)), "plain");
    await place(tree, { ...script, mode: 0o755 });
  }
  await setTimes(tree, facts.epoch);
}

/** The program is compressed already. xz makes the package 4 % smaller, in nine times the time. */
const COMPRESSION = ["-Zgzip", "-z1"];

/** Packs a tree as a package: the same tree gives the same bytes. */
export async function packPackage(tree: string, deb: string, { epoch }: PackageFacts): Promise<void> {
  // dpkg-deb sorts the files, and takes the times of its own members from this variable.
  const time = `SOURCE_DATE_EPOCH=${epoch}`;
  await runCommand(["env", time, "dpkg-deb", "--root-owner-group", ...COMPRESSION, "--build", tree, deb]);
}

/** Returns the files that only Debian's policy asks for. */
function debianFiles(facts: PackageFacts, { materials }: PackagedProgram): PackageFile[] {
  const licence = readFileSync(join(root, "LICENSE"), "utf8");
  return [
    readableFile("/usr/share/lintian/overrides/transcribe", lintianOverrides, "plain"),
    readableFile(`${DOCUMENTS}/changelog.gz`, compressed(debianChangelog(facts)), "documentation"),
    readableFile(`${DOCUMENTS}/copyright`, copyrightFile(licence, materials), "licence"),
  ];
}

async function place(tree: string, { path, content, mode }: PackageFile): Promise<void> {
  const target = join(tree, path);
  await mkdir(dirname(target), { recursive: true });
  await Bun.write(target, content);
  await chmod(target, mode);
}

/** Returns the list with which `dpkg --verify` checks the files. */
async function checksums(files: readonly PackageFile[]): Promise<string> {
  const lines: string[] = [];
  for (const { path, content } of files) {
    const hasher = new Bun.CryptoHasher("md5");
    for await (const piece of content.stream()) hasher.update(piece);
    lines.push(`${hasher.digest("hex")}  ${path.slice(1)}\n`);
  }
  return lines.join("");
}

/** Sets the modes of all directories, and all times. dpkg-deb packs them as they are. */
async function setTimes(tree: string, epoch: number): Promise<void> {
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    await utimes(path, epoch, epoch);
  }
  await chmod(tree, 0o755);
  await utimes(tree, epoch, epoch);
}
