import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";

/** A file that grew over its limit while it was written. */
export class FileTooLargeError extends Error {
  override readonly name = "FileTooLargeError";
}

/**
 * Writes a stream to a new file, readable by the server's user only, and syncs it to disk. It reads on only when the last piece is written, so
 * a slow disk slows the sender and fills no memory. On any error the file is removed and the error goes on:
 * FileTooLargeError past `maxBytes`, else what the stream or the file system threw.
 *
 * @returns its size and the SHA-256 of its bytes in lower-case hex
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

/** A write may take only a part, near a full disk for one. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, bytes.byteLength - written)).bytesWritten;
  }
}
