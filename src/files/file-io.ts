import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";

const PIECE_BYTES = 1 << 20;

/** Makes the names in a directory durable: a synced and renamed file keeps its new name after a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

/** Does the same synchronously, for callers that must not let other code run in between. */
export function syncDirectoryNow(path: string): void {
  sync(path, "r");
}

export function syncFile(path: string): void {
  sync(path, "r+");
}

function sync(path: string, flags: "r" | "r+"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes all bytes: a single write may be partial, for example near a full disk. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.byteLength; ) {
    written += writeSync(file, bytes, written, bytes.byteLength - written);
  }
}

/** Reads bytes at a position: fewer than `length` only at the end of the file. */
export function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/**
 * Reads a part of a file in pieces of at most 1 MiB.
 * @param onPiece receives a buffer that is used again for the next piece
 * @returns the number of bytes read: fewer than `length` only at the end of the file
 */
export function readPieces(
  file: number,
  position: number,
  length: number,
  onPiece: (piece: Uint8Array) => void,
): number {
  const buffer = Buffer.alloc(Math.min(PIECE_BYTES, length));
  let done = 0;
  while (done < length) {
    const count = readSync(file, buffer, 0, Math.min(buffer.length, length - done), position + done);
    if (count === 0) break;
    onPiece(buffer.subarray(0, count));
    done += count;
  }
  return done;
}

/** Writes a file anew, so that an existing file's mode does not count. */
export function replaceFile(path: string, text: string, mode: number): void {
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  writeFileSync(partial, text, { mode, flag: "wx" });
  // The umask may have removed more.
  chmodSync(partial, mode);
  renameSync(partial, path);
}
