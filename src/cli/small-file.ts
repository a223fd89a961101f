import { closeSync, openSync, readSync } from "node:fs";
import { messageOf, size } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { printable } from "./printable.ts";

/**
 * Reads a small file that a command line names. Of a pipe or a device without an end, no more than `maxBytes` are read.
 * @param path 0 for standard input
 * @param what the name of its content in messages
 * @throws {CommandError} when it can't be read, or is larger
 */
export function readSmallFile(path: string | 0, what: string, maxBytes: number): Buffer {
  // One byte more shows that the file is too large.
  const buffer = Buffer.alloc(maxBytes + 1);
  let filled = 0;
  try {
    const file = path === 0 ? path : openSync(path, "r");
    try {
      for (let read = -1; read !== 0 && filled < buffer.length; filled += read) {
        read = readSync(file, buffer, filled, buffer.length - filled, null);
      }
    } finally {
      if (file !== 0) closeSync(file);
    }
  } catch (error) {
    throw unreadable(path, what, messageOf(error));
  }
  if (filled > maxBytes) throw unreadable(path, what, `it has more than ${size(maxBytes)}`);
  return buffer.subarray(0, filled);
}

/** Reads a small file of text. @throws {CommandError} as `readSmallFile`, and when it is not UTF-8 */
export function readSmallText(path: string | 0, what: string, maxBytes: number): string {
  const bytes = readSmallFile(path, what, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(path, what, "it is not UTF-8 text");
  }
}

function unreadable(path: string | 0, what: string, reason: string): CommandError {
  const place = path === 0 ? "from standard input" : printable(path);
  return new CommandError(`can't read ${what} ${place}: ${printable(reason)}`);
}
