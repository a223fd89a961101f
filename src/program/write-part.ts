import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { messageOf } from "../text/index.ts";
import type { EmbeddedPart } from "./embedded.ts";
import { UnpackError } from "./unpack-error.ts";

const pieceBytes = 1 << 20;

/**
 * Unpacks one part into a new file, chunk by chunk, and syncs it to the disk.
 * @throws {UnpackError} when the result differs from what was packed
 * @throws the file system's error
 */
export async function writePart({ packed, bytes, sha256, executable }: EmbeddedPart, path: string): Promise<void> {
  const file = await open(path, "wx", executable ? 0o500 : 0o400);
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    let written = 0;
    const unpack = createZstdDecompress({ chunkSize: pieceBytes });
    await pipeline(Bun.file(packed).stream(), unpack, async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const piece of pieces) {
        hasher.update(piece);
        for (let from = 0; from < piece.length; ) from += (await file.write(piece, from)).bytesWritten;
        written += piece.length;
      }
    });
    if (written !== bytes || hasher.digest("hex") !== sha256) throw new Error("what comes out is not what was packed");
    await file.sync();
  } catch (error) {
    if (isOfFileSystem(error)) throw error;
    const why = messageOf(error);
    throw new UnpackError(`this program's file is damaged (${why}): copy it again and compare it with SHA256SUMS`);
  } finally {
    await file.close();
  }
}

/** Returns whether an error comes from the file system; zstd's errors have codes, too, but no `syscall`. */
function isOfFileSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
