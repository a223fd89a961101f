import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { lockFile } from "../src/files/index.ts";
import { root } from "./checkout.ts";

/** Long enough to build the program for the first time on a slow machine. */
export const buildTimeout = 180_000;

/** The last build for tests: the file, and a digest of everything that it was built from. */
const recordSchema = Type.Object({ file: Type.String(), stamp: Type.String(), key: Type.String() });
const recordPath = join(root, "build/compiled-program.json");
/** Folders that no build reads. */
const UNUSED = /^(?:test|docs|harness|deploy|sdk)\//;

/**
 * Returns the single-file program that scripts/build builds from this checkout. The first test file builds it; others
 * wait for that build, and use it until a file of the checkout changes.
 */
export async function builtProgram(): Promise<string> {
  if (process.env.TEST_PROGRAM !== undefined) return process.env.TEST_PROGRAM;
  const release = await locked(join(root, "build/compiled-program.lock"));
  try {
    const key = checkoutKey();
    const built = lastBuild();
    if (key !== null && built?.key === key && built.stamp === stampOf(built.file)) return built.file;
    const file = await buildProgram();
    if (key !== null) writeFileSync(recordPath, JSON.stringify({ file, stamp: stampOf(file), key }));
    return file;
  } finally {
    release();
  }
}

async function locked(path: string): Promise<() => void> {
  for (;;) {
    const release = lockFile(path);
    if (release !== null) return release;
    await Bun.sleep(100);
  }
}

/** Returns a digest of the commit, of all files that a build reads, and of the native parts; null without git. */
function checkoutKey(): string | null {
  const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
  const head = git("rev-parse", "HEAD");
  const status = git("status", "--porcelain");
  const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard");
  if ([head, status, listed].some(({ exitCode }) => exitCode !== 0)) return null;
  const hasher = new Bun.CryptoHasher("sha256");
  // The program contains its commit, and whether the checkout has other changes.
  hasher.update(`${head.stdout} ${status.stdout.length > 0} ${Bun.version}`);
  for (const file of listed.stdout.toString().split("\0")) {
    if (file === "" || UNUSED.test(file)) continue;
    hasher.update(file);
    const path = join(root, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) hasher.update(readFileSync(path));
  }
  for (const folder of ["native", "ffmpeg", "models", "samples"]) {
    for (const name of readdirSync(join(root, "build", folder))) {
      hasher.update(`${name} ${stampOf(join(root, "build", folder, name))}`);
    }
  }
  return hasher.digest("hex");
}

function lastBuild(): { readonly file: string; readonly stamp: string; readonly key: string } | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(recordPath, "utf8"));
    return Value.Check(recordSchema, parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Identifies the content of a file that nobody changes in place. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "missing" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Builds the single-file program of this checkout. @param report called with the output of the build @returns its path */
export async function buildProgram(report: (output: string) => void = () => {}): Promise<string> {
  const script = join(root, "tools/build/index.ts");
  const child = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: root,
    stdin: "ignore",
    stderr: "inherit",
  });
  const output = await new Response(child.stdout).text();
  report(output);
  const file = /^build: (dist\/\S+), \d+ MB/m.exec(output)?.[1];
  if ((await child.exited) !== 0 || file === undefined) throw new Error(`scripts/build failed: ${output}`);
  return join(root, file);
}
