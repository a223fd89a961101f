import { randomUUID } from "node:crypto";
import { link, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { standardOutput } from "./plan-outputs.ts";
import { printableText } from "./printable.ts";

/**
 * Writes a transcript to standard output, or atomically to a file.
 * @param force whether an existing file may be overwritten
 * @throws {CommandError} when the file exists without `force`, or can't be written
 */
export async function writeOutput(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  if (path === standardOutput) {
    // Untrusted text must not control a terminal; a pipe receives it unchanged.
    process.stdout.write(process.stdout.isTTY ? printableText(new TextDecoder().decode(bytes)) : bytes);
    return;
  }
  try {
    const there = await stat(path).catch(() => null);
    // A device or a pipe is written to, never replaced.
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

/**
 * Publishes a file under a new name. `link` fails if the name exists, even if it was created a moment before. Some file
 * systems have no hard links; there, the name is checked before a rename.
 */
async function placeNew(partial: string, path: string): Promise<void> {
  const taken = new CommandError(`${path} exists already; --force overwrites it`);
  try {
    await link(partial, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST") throw taken;
    if (await stat(path).catch(() => null)) throw taken;
    await rename(partial, path);
  }
}
