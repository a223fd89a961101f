import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { makeCacheEntry } from "../../src/files/index.ts";
import { runCommand } from "./run-command.ts";

/** Name of the folder of packages in a cache entry. By it Hypothesis knows that the packages are not the tested code. */
const PACKAGES = "site-packages";
/** The version of Python, which is asked for once. */
let python: Promise<string> | undefined;

/**
 * Runs a Python script that reads a question as JSON from standard input and writes its answer as JSON to standard
 * output.
 * @param packages folder with the packages that the script imports, see installPythonPackages
 * @throws {Error} with the last lines of the script's errors when it fails
 */
export async function askPython<T extends TSchema>(
  script: string,
  packages: string,
  question: unknown,
  schema: T,
  environment: Readonly<Record<string, string>> = {},
): Promise<Static<T>> {
  const child = Bun.spawn(["python3", script], {
    env: { ...process.env, ...environment, ...pythonEnvironment(packages) },
    stdin: Buffer.from(JSON.stringify(question)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [answer, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) {
    throw new Error(`${basename(script)} failed: ${errors.trim().split("\n").slice(-3).join(" / ")}`);
  }
  return Value.Parse(schema, JSON.parse(answer));
}

/** Returns the variables with which Python finds packages, and stores bytecode with them and not next to scripts. */
export function pythonEnvironment(packages: string): Readonly<Record<string, string>> {
  if (packages === "") return { PYTHONPATH: "", PYTHONDONTWRITEBYTECODE: "1" };
  const bytecode = join(dirname(packages), "bytecode");
  return { PYTHONPATH: packages, PYTHONPYCACHEPREFIX: bytecode, PYTHONDONTWRITEBYTECODE: "" };
}

/** The packages that a script needs. */
export interface PythonPackages {
  /** Name of the folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[];
  /** Whether to install nothing but `packages`, although they ask for more. */
  readonly alone?: true;
  /** Path of a file that pins the versions of these packages and their dependencies. */
  readonly constraints: string;
  /** Time after which the installation is killed. */
  readonly timeoutMilliseconds: number;
}

/**
 * Returns a folder for PYTHONPATH with packages and their dependencies, from the cache or from the user's own pip.
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function installPythonPackages(cacheRoot: string, wanted: PythonPackages): Promise<string> {
  python ??= runCommand(["python3", "--version"]);
  const content = await Bun.file(wanted.constraints).text();
  const digest = createHash("sha256")
    .update(JSON.stringify([await python, requirementsOf(content), wanted.packages, PACKAGES]))
    .digest("hex");
  const entry = join(wanted.name, digest);
  const packages = join(cacheRoot, entry, PACKAGES);
  if (existsSync(packages)) return packages;
  await makeCacheEntry(cacheRoot, entry, async (directory) => {
    const install = [
      ...["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=1"],
      // Python compiles the modules that are imported, which are few of them.
      "--no-compile",
      // Only wheels, because building a source package would run its code.
      ...["--only-binary=:all:", "--target", join(directory, PACKAGES), "--constraint", wanted.constraints],
      ...(wanted.alone === true ? ["--no-deps"] : []),
      ...wanted.packages,
    ];
    await runCommand(onlyOnce(cacheRoot, entry, install), { timeoutMs: wanted.timeoutMilliseconds });
  });
  return packages;
}

/** Returns the requirements of a file, one a line, without comments: a changed comment needs no new installation. */
export function requirementsOf(constraints: string): string {
  const lines = constraints.split("\n").map((line) =>
    line
      .trim()
      .replace(/(^|\s)#.*$/, "")
      .trim(),
  );
  return lines.filter((line) => line !== "").join("\n");
}

/**
 * Returns a command line that fills an entry of the cache, unless another process fills it at the same time: then it waits
 * for that process and does nothing. The entry itself is created by makeCacheEntry.
 */
export function onlyOnce(cacheRoot: string, entry: string, command: readonly string[]): string[] {
  const folder = join(cacheRoot, "tmp");
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, `${createHash("sha256").update(entry).digest("hex").slice(0, 16)}.lock`);
  return ["flock", lock, "sh", "-c", 'test -e "$0" || exec "$@"', join(cacheRoot, entry), ...command];
}
