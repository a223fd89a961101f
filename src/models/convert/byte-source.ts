import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ConversionError } from "./conversion-error.ts";

/** Random access to bytes that lie in one file or, split at arbitrary places, in several. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Exactly `length` bytes from `offset`; throws `ConversionError` where that reaches past the end. */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

interface Part {
  readonly descriptor: number;
  readonly start: number;
  readonly sizeBytes: number;
}

/** Opens files that, one after the other, are one stream of bytes; nothing is joined on disk. The caller closes it. */
export function openFiles(paths: readonly string[]): ByteSource {
  const parts: Part[] = [];
  let sizeBytes = 0;
  const close = () => {
    for (const part of parts.splice(0)) closeSync(part.descriptor);
  };
  try {
    for (const path of paths) {
      const descriptor = openSync(path, "r");
      const part = { descriptor, start: sizeBytes, sizeBytes: fstatSync(descriptor).size };
      parts.push(part);
      sizeBytes += part.sizeBytes;
    }
  } catch (error) {
    close();
    throw error;
  }
  return { sizeBytes, close, read: (offset, length) => readAcross(parts, sizeBytes, offset, length) };
}

function readAcross(parts: readonly Part[], sizeBytes: number, offset: number, length: number): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > sizeBytes) {
    throw new ConversionError(
      `the model file ends too early: ${length} bytes are wanted at ${offset}, it has ${sizeBytes} in all`,
    );
  }
  const bytes = new Uint8Array(length);
  let done = 0;
  for (const part of parts) {
    // A read may return less than asked for (2 GiB is Linux's limit for one call), hence the inner loop.
    while (done < length && offset + done < part.start + part.sizeBytes) {
      const within = offset + done - part.start;
      const count = readSync(part.descriptor, bytes, done, Math.min(length - done, part.sizeBytes - within), within);
      if (count === 0) throw new ConversionError("the model file became shorter while it was read");
      done += count;
    }
  }
  return bytes;
}
