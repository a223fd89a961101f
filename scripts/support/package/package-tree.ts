import { readdirSync, readFileSync } from "node:fs";
import { chmod, copyFile, lstat, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bashScript, zshScript } from "../../../src/cli/completion/bash-and-zsh.ts";
import { fishScript } from "../../../src/cli/completion/fish.ts";
import { completionPlaces } from "../../../src/cli/completion/places.ts";
import { cliProgram } from "../../../src/cli/index.ts";
import { exampleFile } from "../../../src/config/index.ts";
import { defaultConfigFile, defaultDataDirectory, packagePaths } from "../../../src/install/layout.ts";
import { packageUnit } from "../../../src/install/unit.ts";
import { root } from "../checkout.ts";
import { runCommand } from "../run-command.ts";
import type { Bom } from "../sbom/document.ts";
import {
  controlFile,
  copyrightFile,
  debianChangelog,
  lintianOverrides,
  type PackageFacts,
  settingsConffile,
} from "./control.ts";
import { manPage } from "./man-page.ts";

const documents = "/usr/share/doc/transcribe";
/** Best compression. The header has no time and no name. */
const GZIP_LEVEL = 9;

/** Writes the files of a package into a directory, in the form that `dpkg-deb --build` packs. */
export async function writePackageTree(
  tree: string,
  facts: PackageFacts,
  program: { readonly path: string; readonly materials: Bom },
): Promise<void> {
  const binary = join(tree, packagePaths.program);
  await mkdir(dirname(binary), { recursive: true });
  await copyFile(program.path, binary);
  await chmod(binary, 0o755);
  const texts = { ...writtenTexts(facts, program.materials), ...copiedTexts() };
  for (const [path, content] of Object.entries(texts)) await place(join(tree, path), content);
  await chmod(join(tree, defaultConfigFile), 0o640);

  const files = listFiles(tree);
  const sizes = await Promise.all(files.map(async (path) => (await lstat(join(tree, path))).size));
  const control: Readonly<Record<string, string>> = {
    control: controlFile(
      facts,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
    conffiles: `${defaultConfigFile}\n`,
    md5sums: await checksums(tree, files),
  };
  for (const [name, content] of Object.entries(control)) await place(join(tree, "DEBIAN", name), content);
  for (const name of readdirSync(join(root, "deploy/debian"))) {
    await place(join(tree, "DEBIAN", name), readFileSync(join(root, "deploy/debian", name)));
    await chmod(join(tree, "DEBIAN", name), 0o755);
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

/** Returns the files that are generated from the program's declarations. */
function writtenTexts(facts: PackageFacts, materials: Bom): Record<string, string | Uint8Array> {
  const places = completionPlaces(cliProgram());
  const day = new Date(facts.epoch * 1000).toISOString().slice(0, 10);
  return {
    [packagePaths.unit]: packageUnit(),
    [defaultConfigFile]: settingsConffile(defaultDataDirectory, packagePaths.runtimeDirectory),
    "/usr/share/bash-completion/completions/transcribe": bashScript(places),
    "/usr/share/zsh/vendor-completions/_transcribe": zshScript(places),
    "/usr/share/fish/vendor_completions.d/transcribe.fish": fishScript(places),
    "/usr/share/man/man1/transcribe.1.gz": compressed(manPage(facts.version, day)),
    "/usr/share/lintian/overrides/transcribe": lintianOverrides,
    [`${documents}/changelog.gz`]: compressed(debianChangelog(facts)),
    [`${documents}/copyright`]: copyrightFile(readFileSync(join(root, "LICENSE"), "utf8"), materials),
    [`${documents}/examples/transcribe.toml`]: exampleFile(),
  };
}

/** Returns the files that are copied from the checkout: the pages of the documentation, and examples. */
function copiedTexts(): Record<string, string | Uint8Array> {
  const read = (path: string) => readFileSync(join(root, path));
  const pages = readdirSync(join(root, "docs"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".md"));
  return {
    ...Object.fromEntries(pages.map((name) => [`${documents}/${name}`, read(join("docs", name))])),
    [`${documents}/CHANGELOG.md.gz`]: compressed(read("CHANGELOG.md")),
    [`${documents}/examples/prometheus-alerts.yml`]: read("deploy/prometheus-alerts.yml"),
    [`${documents}/examples/grafana.json`]: read("deploy/grafana/transcribe.json"),
  };
}

function compressed(content: string | Uint8Array): Uint8Array {
  return Bun.gzipSync(typeof content === "string" ? Buffer.from(content) : new Uint8Array(content), {
    level: GZIP_LEVEL,
  });
}

async function place(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await Bun.write(path, content);
  await chmod(path, 0o644);
}

function listFiles(tree: string): string[] {
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1)).sort();
}

/** Returns the list with which `dpkg --verify` checks the files; it omits the settings file, which may change. */
async function checksums(tree: string, files: readonly string[]): Promise<string> {
  const lines: string[] = [];
  for (const path of files.filter((each) => `/${each}` !== defaultConfigFile)) {
    const hasher = new Bun.CryptoHasher("md5");
    for await (const piece of Bun.file(join(tree, path)).stream()) hasher.update(piece);
    lines.push(`${hasher.digest("hex")}  ${path}\n`);
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
