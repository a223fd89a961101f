import { existsSync } from "node:fs";
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCacheEntry } from "../../src/files/index.ts";
import { root } from "../shared/checkout.ts";
import { runLogged } from "./run-logged.ts";

/** The release before this one. Its program is built from its commit, so that nobody has to store it. */
export const previousRelease = { version: "0.2.0", commit: "87601a3d6b0e9d17007af8381d2d0679f0ae26fb" } as const;

/** Returns the program of the previous release from the cache; builds it the first time, which takes half an hour. */
export async function previousProgram(cacheRoot: string, log: string): Promise<string> {
  const name = `transcribe-${process.platform}-${process.arch}`;
  const entry = join("releases", previousRelease.commit);
  const known = join(cacheRoot, entry, name);
  if (existsSync(known)) return known;
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    const checkout = join(directory, "checkout");
    const run = (cwd: string, ...command: string[]) => runLogged(log, { command, cwd });
    await run(root, "git", "clone", "--quiet", "--no-checkout", root, checkout);
    await run(checkout, "git", "checkout", "--quiet", previousRelease.commit);
    await run(checkout, join(checkout, "scripts/build"));
    await copyFile(join(checkout, "dist", name), join(directory, name));
    await chmod(join(directory, name), 0o755);
    await run(directory, "rm", "-r", checkout);
  });
  return join(folder, name);
}
