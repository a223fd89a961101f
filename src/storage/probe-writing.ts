import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { machineTrouble } from "./machine-trouble.ts";

const trialBytes = 1024 * 1024;
/** Number of files that one worker on a recording has open at once. */
const trialFiles = 16;

/**
 * Tests whether files can be written to a directory now, by opening 16 files and syncing one mebibyte. The test
 * confirms or refutes a report that the disk is full or that too many files are open.
 * @returns the system's error when the write fails, null when it succeeds
 */
export async function probeWriting(directory: string): Promise<Error | null> {
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
