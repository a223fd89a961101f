import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";

/** Error for a file that exceeded its limit while it was written. */
export class FileTooLargeError extends Error {
  override readonly name = "FileTooLargeError";
}

/**
 * Writes a stream to a new file, readable by the server's user only, and syncs it to disk. The next chunk is read only
 * when the last one is written, so a slow disk slows the sender and fills no memory.
 *
 * @returns the size and the SHA-256 of the bytes in lower-case hex
 * @throws {FileTooLargeError} when the stream exceeds `maxBytes`
 * @throws the error of the stream or the file system; the file is removed after every error
 */
export async function writeStream(
  stream: AsyncIterable<Uint8Array>,
  path: string,
  maxBytes: number,
): Promise<{ sizeBytes: number; sha256: string }> {
  const file = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    try {
      for await (const piece of stream) {
        sizeBytes += piece.byteLength;
        if (sizeBytes > maxBytes) throw new FileTooLargeError(`the file is larger than ${maxBytes} bytes`);
        hash.update(piece);
        await writeWhole(file, piece);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    return { sizeBytes, sha256: hash.digest("hex") };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Writes all bytes: a single write may accept only a part of them, for example near a full disk. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, bytes.byteLength - written)).bytesWritten;
  }
}
