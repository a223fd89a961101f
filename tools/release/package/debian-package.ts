import { readdirSync, readFileSync } from "node:fs";
import { chmod, link, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Bom } from "../../build/sbom/document.ts";
import { root } from "../../shared/checkout.ts";
import { packNewTree } from "../../shared/pack-tree.ts";
import { runCommand } from "../../shared/run-command.ts";
import {
  FFMPEG_NOTICE,
  licencesOfParts,
  PACKAGE_DESCRIPTION,
  PACKAGE_SUMMARY,
  type PackagedProgram,
  type PackageFacts,
  type PackageFile,
  packageVersion,
  readableFile,
} from "./facts.ts";
import { compressed, DOCUMENTS, sharedFiles } from "./shared-files.ts";

/** Debian's names of architectures. */
const debianArchitectures = { x64: "amd64", arm64: "arm64" } as const;

/** Returns the control file (Debian Policy 5.3). */
export function controlFile({ version, architecture, maintainer }: PackageFacts, installedBytes: number): string {
  return `Package: transcribe
Version: ${packageVersion(version)}
Architecture: ${debianArchitectures[architecture]}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(installedBytes / 1024)}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 12), passwd
Suggests: libvulkan1
Section: sound
Priority: optional
Description: ${PACKAGE_SUMMARY}
${PACKAGE_DESCRIPTION.map((line) => ` ${line}\n`).join("")}`;
}

/** Returns a time in the form of Debian's files. */
function dateOf(epoch: number): string {
  return new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
}

/** Returns the changelog of the package (Debian Policy 4.4). CHANGELOG.md, which the package contains, has the changes. */
export function debianChangelog({ version, maintainer, epoch }: PackageFacts): string {
  return `transcribe (${packageVersion(version)}) unstable; urgency=medium

  * Version ${version}: see /usr/share/doc/transcribe/CHANGELOG.md.gz.

 -- ${maintainer}  ${dateOf(epoch)}
`;
}

/** Returns the copyright file: the product's licence, and the parts of the program with their licences. */
export function copyrightFile(licence: string, materials: Bom): string {
  return `Transcribe, the product's own code:

${licence.trim()}

${licencesOfParts(materials)}
On Debian systems, the texts of Apache-2.0 and the LGPL are in
/usr/share/common-licenses. ${FFMPEG_NOTICE}`;
}

/** Findings of lintian that are intended, in the form of its overrides. */
const lintianOverrides = `# The program starts with a static launcher, which lintian takes for a library because it is independent of its position.
transcribe: shared-library-lacks-prerequisites
# Settings may contain a password of a client.
transcribe: non-standard-file-perm
# Another program of this name may precede it in the search path: the one of "transcribe service install".
transcribe: command-with-path-in-maintainer-script
`;

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

/** Name of the tree's top directory, which the documentation and the machine's list of sources use. */
const TOP = "transcribe-apt";

/**
 * Writes an apt repository with one package as an archive: the same package always gives the same bytes. It has no
 * signature of its own, because the list of checksums is signed, which also covers this archive.
 */
export async function writeAptRepository(archive: string, deb: string, facts: PackageFacts): Promise<void> {
  const architecture = debianArchitectures[facts.architecture];
  const pool = `pool/main/t/transcribe/transcribe_${packageVersion(facts.version)}_${architecture}.deb`;
  await packNewTree(archive, async (tree) => {
    const top = join(tree, TOP);
    await mkdir(join(top, dirname(pool)), { recursive: true });
    // A link, because a copy would take the space of the package once more.
    await link(deb, join(top, pool));
    const packages = Buffer.from(await runCommand(["dpkg-scanpackages", "--arch", architecture, "pool"], { cwd: top }));
    const files = {
      [`main/binary-${architecture}/Packages`]: packages,
      [`main/binary-${architecture}/Packages.gz`]: Buffer.from(Bun.gzipSync(packages)),
    };
    for (const [path, content] of Object.entries({ ...files, Release: releaseFile(facts, files) })) {
      await Bun.write(join(top, "dists/stable", path), content);
    }
  });
}

/** Returns the Release file, with the digests of the indexes. */
function releaseFile(
  { architecture, epoch }: PackageFacts,
  indexes: Readonly<Record<string, Buffer<ArrayBuffer>>>,
): string {
  const lines = Object.entries(indexes).map(([path, content]) => {
    return ` ${new Bun.CryptoHasher("sha256").update(content).digest("hex")} ${content.length} ${path}\n`;
  });
  return `Origin: Transcribe
Label: Transcribe
Suite: stable
Codename: stable
Date: ${dateOf(epoch)}
Architectures: ${debianArchitectures[architecture]}
Components: main
Description: Transcribe for machines without a network
SHA256:
${lines.join("")}`;
}
