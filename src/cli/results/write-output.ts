import { randomUUID } from "node:crypto";
import { link, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { printableText } from "../printable.ts";
import { standardOutput } from "./plan-outputs.ts";

/**
 * Writes a transcript to a file, whole or not at all, or to standard output.
 * @param force whether a file that is there may be overwritten
 * @throws {CommandError}
 */
export async function writeOutput(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  if (path === standardOutput) {
    // What others wrote must not steer a terminal; a pipe gets it as it is.
    process.stdout.write(process.stdout.isTTY ? printableText(new TextDecoder().decode(bytes)) : bytes);
    return;
  }
  try {
    const there = await stat(path).catch(() => null);
    // A device or a pipe is written into, never replaced.
    if (there !== null && !there.isFile()) await writeFile(path, bytes);
    else await replaceFile(path, bytes, force);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`can't write ${path}: ${messageOf(error)}`);
  }
}

async function replaceFile(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  const partial = join(dirname(path), `.transcribe-${randomUUID()}.part`);
  try {
    {
      await using file = await open(partial, "wx");
      await file.writeFile(bytes);
      await file.sync();
    }
    if (force) await rename(partial, path);
    else await placeNew(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** A link fails where something is there already, even what came in the last moment; some file systems have none. */
async function placeNew(partial: string, path: string): Promise<void> {
  const taken = new CommandError(`${path} is there already; --force overwrites it`);
  try {
    await link(partial, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST") throw taken;
    if (await stat(path).catch(() => null)) throw taken;
    await rename(partial, path);
  }
}
