import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { makeCacheEntry } from "../../../src/models/cache-entry.ts";
import { digestFile } from "../../../src/program/index.ts";

/**
 * Variables by which whoever starts a compiled program could make it another one: BUN_BE_BUN turns it into plain Bun
 * before any of our code runs, BUN_OPTIONS loads code of the current directory, and the last has a crash sent to Bun's
 * makers. No option of the compiler leaves them out.
 */
const unheardVariables = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_ENABLE_CRASH_REPORTING"];

/**
 * A copy of a Bun program that does not hear these variables: in the names that it asks the environment for, which stand in
 * it once each as C strings, the first character is made their end. No variable has an empty name.
 * @returns its path in the cache
 */
export async function deafBun(bun: string, cacheRoot: string): Promise<string> {
  const entry = join("deaf-bun", `${await digestFile(bun, "sha256")}-${unheardVariables.join("-")}`);
  const kept = join(cacheRoot, entry, "bun");
  if (await Bun.file(kept).exists()) return kept;
  const program = Buffer.from(await Bun.file(bun).arrayBuffer());
  for (const name of unheardVariables) program[onlyPlaceOf(name, program)] = 0;
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    await Bun.write(join(directory, "bun"), program);
    await chmod(join(directory, "bun"), 0o755);
  });
  return join(folder, "bun");
}

function onlyPlaceOf(name: string, program: Buffer): number {
  const asCString = Buffer.from(`\0${name}\0`);
  const place = program.indexOf(asCString);
  if (place < 0 || program.indexOf(asCString, place + 1) >= 0) {
    throw new Error(`Bun ${Bun.version} does not have ${name} in it once; see how it reads that variable now`);
  }
  return place + 1;
}
