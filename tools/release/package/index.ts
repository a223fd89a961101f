// The part of scripts/package that needs Bun: packs the built program as a Debian package, as an apt repository with it,
// and as an RPM package.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { programVersion } from "../../../src/program/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import { scanProgramFile } from "../../../src/verification/index.ts";
import { readSbom } from "../../build/sbom/image-sbom.ts";
import { targetOf } from "../../build/target.ts";
import { root } from "../../shared/checkout.ts";
import { addChecksum } from "../../shared/checksums.ts";
import { runCommand } from "../../shared/run-command.ts";
import { packPackage, writeAptRepository, writePackageTree } from "./debian-package.ts";
import type { PackagedProgram, PackageFacts } from "./facts.ts";
import { writeRpmPackage } from "./rpm-package.ts";

const dist = join(root, "dist");
// Programs that find mistakes in packages. debian-package.ts and rpmlint.toml list the findings that are intended; every
// other one is an error. Packages are often built by root in a container.
const LINTIAN = ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"] as const;
const RPMLINT = ["rpmlint", "--strict", "--config", join(import.meta.dir, "rpmlint.toml")] as const;
const log = (line: string) => console.log(`package: ${line}`);

try {
  const { name, architecture } = targetOf(process.argv.slice(2));
  await writePackages(`transcribe-${name}`, architecture);
} catch (error) {
  console.error(`package: ${messageOf(error)}`);
  process.exitCode = 1;
}

async function writePackages(name: string, architecture: PackageFacts["architecture"]): Promise<void> {
  const path = join(dist, name);
  const facts: PackageFacts = {
    version: await versionOf(path),
    architecture,
    maintainer: maintainerOf(process.env),
    epoch: await commitSeconds(),
  };
  const program = { path, materials: await readSbom(`${path}.cdx.json`) };
  await writeDebianFiles(name, facts, program);
  await writeRpmPackage(`${path}.rpm`, facts, program);
  await addChecksum(dist, "package", `${name}.rpm`);
  await checkPackage(`${path}.rpm`, RPMLINT);
}

async function writeDebianFiles(name: string, facts: PackageFacts, program: PackagedProgram): Promise<void> {
  const deb = join(dist, `${name}.deb`);
  const tree = await mkdtemp(join(dist, ".package-"));
  try {
    await writePackageTree(tree, facts, program);
    await packPackage(tree, deb, facts);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  await addChecksum(dist, "package", `${name}.deb`);
  const archive = `${name}.apt.tar`;
  await writeAptRepository(join(dist, archive), deb, facts);
  await addChecksum(dist, "package", archive);
  await checkPackage(deb, LINTIAN);
}

/** Returns the version of a program file. @throws {Error} when it was not built from this checkout's version */
async function versionOf(program: string): Promise<string> {
  const { found } = await scanProgramFile(program);
  if (typeof found !== "string" && found.descriptions[0]?.version === programVersion) return programVersion;
  throw new Error(`${program} is not version ${programVersion}; run scripts/build`);
}

/** Returns the time of the last commit, so that the same commit gives the same package. */
async function commitSeconds(): Promise<number> {
  return Number(await runCommand(["git", "show", "--no-patch", "--format=%ct", "HEAD"], { cwd: root }));
}

/** Returns the maintainer from the variables that Debian's tools use. */
function maintainerOf({ DEBFULLNAME, DEBEMAIL }: NodeJS.ProcessEnv): string {
  return `${DEBFULLNAME ?? "The distributor of this copy"} <${DEBEMAIL ?? "packages@example.org"}>`;
}

/**
 * Checks a package with the program for its format if it is installed, and otherwise logs that the check was skipped.
 * @throws {Error} with the errors and warnings that were found
 */
async function checkPackage(path: string, [program, ...options]: readonly [string, ...string[]]): Promise<void> {
  if (Bun.which(program) === null) {
    log(`SKIPPED: the checks of ${program}, which is not installed (on Debian: apt install ${program})`);
    return;
  }
  const child = Bun.spawn([program, ...options, path], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [found, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${program} found errors or warnings:\n${found}${errors}`.trim());
  log(`${program} found no error and no warning`);
}
