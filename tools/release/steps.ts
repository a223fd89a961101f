import { createPublicKey } from "node:crypto";
import { closeSync, copyFileSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { verifySignature } from "../../src/verification/index.ts";
import { root } from "../shared/checkout.ts";
import { runCommand } from "../shared/run-command.ts";
import { readArtefacts, requireSame } from "./artefacts.ts";
import { readSecretKey, signFile } from "./minisign.ts";
import { checkChangelog, checkTools } from "./preconditions.ts";
import { acceptedSkips, findSkips } from "./skips.ts";

export interface ReleaseOptions {
  readonly dryRun: boolean;
  /** Whether CUDA's backend, and an image with it, belong to the release. */
  readonly cuda: boolean;
  /** Path of a secret key of minisign; null to sign nothing. */
  readonly key: string | null;
}

export interface ReleaseStep {
  readonly name: string;
  /** Runs the step. @returns its result in a few words @throws {Error} when it fails */
  readonly run: (options: ReleaseOptions) => Promise<string>;
}

/** The release before this one. Its program is built from its commit, so that nobody has to store it. */
const previousRelease = { version: "0.2.0", commit: "87601a3d6b0e9d17007af8381d2d0679f0ae26fb" } as const;
/** Number of lines of a failed command's output in its error. */
const LAST_LINES = 12;

const dist = join(root, "dist");
const logs = join(root, "build/release");
const programName = `transcribe-${process.platform}-${process.arch}`;

/** Scripts that make the files of `dist`, in this order: a new program makes the files of other scripts stale. */
const MAKERS = {
  build: "tools/build",
  package: "tools/release/package",
  container: "tools/release/container",
  sdk: "tools/development/sdk",
} as const;

export const releaseSteps: readonly ReleaseStep[] = [
  { name: "tools", run: async () => checkTools((program) => Bun.which(program) !== null, process.getuid?.() === 0) },
  { name: "tree", run: checkTree },
  { name: "version", run: checkVersion },
  { name: "build", run: buildTwice },
  { name: "tests", run: () => test("tests", [join(root, "scripts/test"), "--all"]) },
  { name: "binary", run: () => test("binary", [join(root, "scripts/test"), "--binary"]) },
  { name: "service", run: () => test("service", bun("tools/release/service/index.ts")) },
  { name: "upgrade", run: testUpgrade },
  { name: "artefacts", run: checkArtefacts },
  { name: "sign", run: sign },
];

function bun(script: string, directory = root): string[] {
  return [process.execPath, "--no-env-file", join(directory, script)];
}

/** Runs a command, and appends its output to the log of a step. @throws {Error} with the last lines, when it fails */
async function runLogged(
  step: string,
  command: readonly string[],
  cwd = root,
  env: Record<string, string> = {},
): Promise<string> {
  mkdirSync(logs, { recursive: true });
  const path = join(logs, `${step}.log`);
  const log = openSync(path, "a");
  const { size } = fstatSync(log);
  const child = Bun.spawn([...command], { cwd, env: { ...process.env, ...env }, stdio: ["ignore", log, log] });
  const exitCode = await child.exited;
  closeSync(log);
  const output = await Bun.file(path).slice(size).text();
  if (exitCode === 0) return output;
  const last = output.trim().split("\n").slice(-LAST_LINES).join("\n");
  throw new Error(`${command.join(" ")} failed with ${child.signalCode ?? exitCode}; log: ${path}\n${last}`);
}

async function checkTree(): Promise<string> {
  const changes = (await runCommand(["git", "status", "--porcelain"], { cwd: root })).trim();
  if (changes !== "") throw new Error(`the tree has changes; commit them:\n${changes}`);
  return (await runCommand(["git", "rev-parse", "HEAD"], { cwd: root })).trim();
}

async function checkVersion({ dryRun }: ReleaseOptions): Promise<string> {
  if (Bun.semver.order(programVersion, previousRelease.version) <= 0) {
    throw new Error(`version ${programVersion} is not newer than ${previousRelease.version}; change package.json`);
  }
  const tag = `v${programVersion}`;
  const tags = await runCommand(["git", "tag", "--list", tag], { cwd: root });
  if (tags.trim() !== "") throw new Error(`the tag ${tag} exists; change the version in package.json`);
  return `${programVersion}: ${checkChangelog(readFileSync(join(root, "CHANGELOG.md"), "utf8"), programVersion, dryRun)}`;
}

/** Builds everything here and in a fresh clone elsewhere, and compares the results. */
async function buildTwice({ cuda }: ReleaseOptions): Promise<string> {
  await rm(dist, { recursive: true, force: true });
  const makeAll = async (cwd: string) => {
    let output = "";
    for (const [maker, folder] of Object.entries(MAKERS)) {
      const options = cuda && (maker === "build" || maker === "container") ? ["--cuda"] : [];
      output += await runLogged("build", [...bun(`${folder}/index.ts`, cwd), ...options], cwd);
    }
    return output;
  };
  const skipped = requireListedSkips(await makeAll(root), "build");
  const first = await readArtefacts(dist);
  const clone = join(logs, "second");
  await rm(clone, { recursive: true, force: true });
  try {
    await runLogged("build", ["git", "clone", "--quiet", root, clone]);
    await runLogged("build", [join(clone, "scripts/setup")], clone);
    await makeAll(clone);
    requireSame(first, await readArtefacts(join(clone, "dist")));
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
  return [`${first.length} files, the same bytes in two directories`, ...skipped].join("\n");
}

/** Runs tests and fails for skipped ones that are not listed. */
async function test(step: string, command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const output = await runLogged(step, command, root, env);
  const skipped = requireListedSkips(output, step);
  const summary = /^\d+ passed, .*$/m.exec(output)?.[0] ?? `${/^ *(\d+) pass$/m.exec(output)?.[1] ?? "?"} passed`;
  return [summary, ...skipped].join("\n");
}

/** Returns a line for each accepted skip. @throws {Error} when something else was skipped */
function requireListedSkips(output: string, step: string): string[] {
  const { accepted, unexpected } = findSkips(output, step, acceptedSkips);
  if (unexpected.length > 0) {
    throw new Error(`tools/release/skips.ts does not list what was skipped:\n${unexpected.join("\n")}`);
  }
  return accepted.map(({ notice, reason }) => `  skipped: ${notice}: ${reason}`);
}

async function testUpgrade(): Promise<string> {
  const env = { TEST_PREVIOUS_PROGRAM: await previousProgram(), TEST_PROGRAM: join(dist, programName) };
  const file = join(root, "test/binary/upgrade.slow.test.ts");
  return `from ${previousRelease.version}: ${await test("upgrade", [process.execPath, "--no-env-file", "test", file], env)}`;
}

/** Returns the program of the previous release from the cache; builds it the first time, which takes half an hour. */
async function previousProgram(): Promise<string> {
  const { commit } = previousRelease;
  const entry = join("releases", commit);
  const known = join(defaultCacheRoot(), entry, programName);
  if (existsSync(known)) return known;
  await makeCacheEntry(defaultCacheRoot(), entry, async (directory) => {
    const checkout = join(directory, "checkout");
    await runLogged("previous", ["git", "clone", "--quiet", "--no-checkout", root, checkout]);
    await runLogged("previous", ["git", "checkout", "--quiet", commit], checkout);
    await runLogged("previous", [join(checkout, "scripts/build")], checkout);
    copyFileSync(join(checkout, "dist", programName), join(directory, programName));
    await rm(checkout, { recursive: true });
  });
  return known;
}

async function checkArtefacts(): Promise<string> {
  const artefacts = await readArtefacts(dist);
  const size = artefacts.reduce((sum, { bytes }) => sum + bytes, 0);
  return `${artefacts.length} files, ${(size / 1e6).toFixed(0)} MB`;
}

/** Signs the list of checksums, and verifies the signature. */
async function sign({ dryRun, key: path }: ReleaseOptions): Promise<string> {
  if (path === null) {
    if (dryRun) return "not signed: --key was not given";
    throw new Error("a release needs --key FILE, a secret key of minisign");
  }
  const key = readSecretKey(readFileSync(path, "utf8"));
  const content = readFileSync(join(dist, "SHA256SUMS"));
  const signature = signFile(content, key, `transcribe ${programVersion}`);
  const id = Buffer.from(key.id).reverse().toString("hex").toUpperCase();
  const comment = verifySignature(content, signature, { id, key: createPublicKey(key.key) });
  await Bun.write(join(dist, "SHA256SUMS.minisig"), signature);
  return `by the key ${id}: ${comment}`;
}
