import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ConversionError } from "./conversion-error.ts";

/** Random access to the bytes of one file, or of several files that were split at arbitrary places. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Returns exactly `length` bytes from `offset`. @throws {ConversionError} when the range exceeds the end */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

interface Part {
  readonly descriptor: number;
  readonly start: number;
  readonly sizeBytes: number;
}

/** Opens files as one concatenated byte source, without joining them on disk. The caller closes the source. */
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
    // The inner loop handles short reads: Linux reads at most 2 GiB in one call.
    while (done < length && offset + done < part.start + part.sizeBytes) {
      const within = offset + done - part.start;
      const count = readSync(part.descriptor, bytes, done, Math.min(length - done, part.sizeBytes - within), within);
      if (count === 0) throw new ConversionError("the model file became shorter while it was read");
      done += count;
    }
  }
  return bytes;
}
