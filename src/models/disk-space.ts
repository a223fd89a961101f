import { statfs } from "node:fs/promises";
import { isDiskFull } from "../storage/index.ts";
import { LibraryError } from "./library-error.ts";

/** Disk space that must stay free for the database and the uploads of a running server. */
const reserveBytes = 256 * 1024 * 1024;

/**
 * Checks the free disk space before something large is written.
 * @param folder a folder or file on the file system in question
 * @throws {LibraryError} when writing `bytes` would leave less than the reserve
 */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes + reserveBytes) return;
  throw new LibraryError(
    `there is not enough room on the disk: ${mebibytes(bytes)} are needed and ${mebibytes(reserveBytes)} must stay free, ${mebibytes(free)} are free`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}

/** Runs `work` and converts file system errors to a {LibraryError}, with the system's message and without a stack. */
export async function withFiles<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error))
      throw new LibraryError("the disk got full; what was written was removed. Make room and try again");
    if (error instanceof Error && "errno" in error && "syscall" in error) throw new LibraryError(error.message);
    throw error;
  }
}
