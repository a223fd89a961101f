import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeCacheEntry, runCommand } from "../../../src/models/index.ts";

const constraints = join(import.meta.dir, "constraints.txt");
const installTimeoutMilliseconds = 120_000;

/**
 * Schemathesis and what it needs, as a folder for PYTHONPATH: from the cache, else brought there by the user's own pip.
 * @throws {CommandError} where there is no Python, no pip, or nowhere to install from
 */
export async function installSchemathesis(cacheRoot: string): Promise<string> {
  const python = await runCommand(["python3", "--version"]);
  const content = await Bun.file(constraints).text();
  const name = createHash("sha256")
    .update(JSON.stringify([python, content]))
    .digest("hex");
  const entry = join("schemathesis", name);
  const path = join(cacheRoot, entry);
  if (existsSync(path)) return path;
  return makeCacheEntry(cacheRoot, entry, async (directory) => {
    await runCommand(
      [
        ...["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=1"],
        // Wheels alone: building a source package would run its code.
        ...["--only-binary=:all:", "--target", directory, "--constraint", constraints, "schemathesis"],
      ],
      { timeoutMs: installTimeoutMilliseconds },
    );
  });
}
