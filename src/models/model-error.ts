import { statfs } from "node:fs/promises";
import { machineTrouble } from "../disk/index.ts";
import { ExpectedError } from "../text/index.ts";

/** A model can't be obtained, converted, installed or removed; the message has the reason and the next step. */
export class ModelError extends ExpectedError {
  override readonly name = "ModelError";
}

/** Disk space that must stay free for the database and the uploads of a running server. */
const RESERVE_BYTES = 256 * 1024 * 1024;

/**
 * Checks the free disk space before something large is written.
 * @param folder a folder or file on the file system in question
 * @throws {ModelError} when writing `bytes` would leave less than the reserve
 */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes + RESERVE_BYTES) return;
  throw new ModelError(
    `not enough disk space: ${mebibytes(bytes)} are needed and ${mebibytes(RESERVE_BYTES)} must stay free, but only ${mebibytes(free)} are free`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}

/** Runs `work` and converts file system errors to a {ModelError}, with the system's message and without a stack. */
export async function withFileErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (machineTrouble(error)?.kind === "disk_full")
      throw new ModelError("the disk is full and the partial file was deleted; free disk space and retry");
    if (error instanceof Error && "errno" in error && "syscall" in error) throw new ModelError(error.message);
    throw error;
  }
}
