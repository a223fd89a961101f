// The part of scripts/package that needs Bun: packs the built program as a Debian package and as an apt repository.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { programVersion } from "../../../src/program/index.ts";
import { scanProgramFile } from "../../../src/release/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import { addChecksum } from "../build/checksums.ts";
import { targetOf } from "../build/target.ts";
import { root } from "../checkout.ts";
import { runCommand } from "../run-command.ts";
import { readSbom } from "../sbom/image-sbom.ts";
import { writeAptRepository } from "./apt-repository.ts";
import type { PackageFacts } from "./control.ts";
import { checkWithLintian } from "./lintian.ts";
import { packPackage, writePackageTree } from "./package-tree.ts";

const architectures = { x64: "amd64", arm64: "arm64" } as const;

try {
  const { name, architecture } = targetOf(process.argv.slice(2));
  await writePackage(`transcribe-${name}`, architectures[architecture]);
} catch (error) {
  console.error(`package: ${messageOf(error)}`);
  process.exitCode = 1;
}

async function writePackage(name: string, architecture: string): Promise<void> {
  const dist = join(root, "dist");
  const program = join(dist, name);
  const facts: PackageFacts = {
    version: await versionOf(program),
    architecture,
    maintainer: maintainerOf(process.env),
    epoch: await commitSeconds(),
  };
  const materials = await readSbom(join(dist, `${name}.cdx.json`));
  const deb = join(dist, `${name}.deb`);
  const tree = await mkdtemp(join(dist, ".package-"));
  try {
    await writePackageTree(tree, facts, { path: program, materials });
    await packPackage(tree, deb, facts);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  await addChecksum(dist, "package", `${name}.deb`);
  const archive = `${name}.apt.tar`;
  await writeAptRepository(join(dist, archive), deb, facts);
  await addChecksum(dist, "package", archive);
  await checkWithLintian(deb, (line) => console.log(`package: ${line}`));
}

/** Returns the version of a program file. @throws {Error} when it was not built from this checkout's version */
async function versionOf(program: string): Promise<string> {
  const [description] = (await scanProgramFile(program)).descriptions;
  if (description?.version === programVersion) return programVersion;
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
