import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Glob } from "bun";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { runCommand } from "../../tools/shared/run-command.ts";

/** The names of the files that pin the packages: exact versions, and the digests of all packages. */
const PINS = ["package.json", "bun.lock"] as const;
/** Time after which an installation is killed. */
const INSTALLATION_MILLISECONDS = 300_000;

/** Packages of npm, and the programs that run scripts with them. */
export interface NpmPackages {
  /** Folder with `node_modules`. */
  readonly folder: string;
  /** Path of the Node that is one of the packages. */
  readonly node: string;
}

/**
 * Returns the packages that a folder pins, from the cache or from the user's own registry. No script of a package runs.
 * @param pins folder with package.json and bun.lock
 * @throws {CommandError} when the packages are unavailable, or differ from the lock file
 */
export async function installNpmPackages(cacheRoot: string, pins: string): Promise<NpmPackages> {
  const texts = PINS.map((name) => readFileSync(join(pins, name), "utf8"));
  const digest = createHash("sha256")
    .update(JSON.stringify([process.platform, process.arch, ...texts]))
    .digest("hex");
  const entry = join("npm-packages", digest);
  const path = join(cacheRoot, entry);
  const folder = existsSync(path)
    ? path
    : await makeCacheEntry(cacheRoot, entry, async (directory) => {
        for (const name of PINS) copyFileSync(join(pins, name), join(directory, name));
        await runCommand([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--no-progress"], {
          cwd: directory,
          timeoutMs: INSTALLATION_MILLISECONDS,
        });
      });
  return { folder, node: join(folder, "node_modules", `node-linux-${process.arch}`, "bin/node") };
}

/**
 * Runs a script that reads a question as JSON from standard input, and writes its answer as JSON to standard output.
 * @param program Node or Bun
 * @param script path of a module, which can import the packages and the modules next to it
 * @param schema schema of the answer
 * @throws {Error} with the last lines of the script's errors when it fails
 */
export async function askModule<T extends TSchema>(
  program: string,
  { script, packages }: { readonly script: string; readonly packages: NpmPackages },
  question: unknown,
  schema: T,
): Promise<Static<T>> {
  using directory = temporaryDirectory();
  // Modules look for packages next to the importing file only.
  for (const name of new Glob("*.mjs").scanSync(dirname(script))) {
    copyFileSync(join(dirname(script), name), join(directory.path, name));
  }
  symlinkSync(join(packages.folder, "node_modules"), join(directory.path, "node_modules"));
  const child = Bun.spawn([program, join(directory.path, basename(script))], {
    // A proxy of the user must not come between the script and the server.
    env: { PATH: process.env.PATH, HOME: directory.path },
    stdin: Buffer.from(JSON.stringify(question)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [answer, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) {
    throw new Error(`${basename(script)} failed: ${errors.trim().split("\n").slice(-12).join(" / ")}`);
  }
  return Value.Parse(schema, JSON.parse(answer));
}
