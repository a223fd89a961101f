import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeCacheEntry } from "../../src/models/cache-entry.ts";
import { runCommand } from "./run-command.ts";

/** What a script needs of Python, and what it is brought with. */
export interface PythonPackages {
  /** Of the folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[];
  /** A file that pins them and all that they need: the same everywhere, until somebody renews it. */
  readonly constraints: string;
  /** Killed after so long. */
  readonly timeoutMilliseconds: number;
}

/**
 * Packages and what they need, as a folder for PYTHONPATH: from the cache, else brought there by the user's own pip.
 * @throws {CommandError} where there is no Python, no pip, or nowhere to install from
 */
export async function installPythonPackages(cacheRoot: string, wanted: PythonPackages): Promise<string> {
  const python = await runCommand(["python3", "--version"]);
  const content = await Bun.file(wanted.constraints).text();
  const digest = createHash("sha256")
    .update(JSON.stringify([python, content, wanted.packages]))
    .digest("hex");
  const entry = join(wanted.name, digest);
  const path = join(cacheRoot, entry);
  if (existsSync(path)) return path;
  return makeCacheEntry(cacheRoot, entry, async (directory) => {
    await runCommand(
      [
        ...["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=1"],
        // Wheels alone: building a source package would run its code.
        ...["--only-binary=:all:", "--target", directory, "--constraint", wanted.constraints, ...wanted.packages],
      ],
      { timeoutMs: wanted.timeoutMilliseconds },
    );
  });
}
