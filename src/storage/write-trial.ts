import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { machineTrouble } from "./machine-trouble.ts";

const trialBytes = 1024 * 1024;
/** What somebody who works on a recording has open at once. */
const trialFiles = 16;

/**
 * Whether files can be written to a directory now: a mebibyte of it is, and synced. Somebody's word that the disk is full,
 * or that too many files are open, can so be told from the truth.
 * @returns the system's error where it can't be written, null where it can
 */
export async function writeTrial(directory: string): Promise<Error | null> {
  const path = join(directory, `.trial-${crypto.randomUUID()}`);
  const files: FileHandle[] = [];
  try {
    for (let count = 0; count < trialFiles; count++) files.push(await open(path, "w"));
    await files[0]?.writeFile(new Uint8Array(trialBytes));
    await files[0]?.sync();
    return null;
  } catch (error) {
    if (machineTrouble(error) === null) throw error;
    return error as Error;
  } finally {
    for (const file of files) await file.close().catch(() => {});
    await rm(path, { force: true }).catch(() => {});
  }
}
