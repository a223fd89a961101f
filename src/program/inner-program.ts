import { fstatSync, readSync } from "node:fs";
import type { EmbeddedPart } from "./contents.ts";

// The product's file consists of a launcher, the packed parts, the packed inner program and a trailer. The launcher
// unpacks and starts the inner program, which contains Bun and this code. native/launcher/program-file.h reads the same
// trailer.

const MAGIC = "transcribe file1";
const TRAILER_BYTES = 72;

/** Name of the file that is the inner program. Linux shows it as the name of the process. */
const FILE_NAME = "transcribe";

/** The inner program's frame in the product's file, and the inner program itself. */
type InnerProgram = Omit<EmbeddedPart, "path" | "executable">;

/** Returns the last bytes of the product's file, which describe the inner program. */
export function trailerOf({ offset, packedBytes, bytes, sha256 }: InnerProgram): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.write(MAGIC, 0, "latin1");
  [offset, packedBytes, bytes].forEach((value, index) => {
    trailer.writeBigUInt64LE(BigInt(value), MAGIC.length + 8 * index);
  });
  trailer.write(sha256, MAGIC.length + 24, "hex");
  return trailer;
}

/**
 * Reads the description of the inner program from a file of the product.
 * @param file open for reading
 * @returns the inner program as a part; null when the file has no trailer, like those of 0.2.0 and before
 */
export function innerProgramOf(file: number): EmbeddedPart | null {
  const trailer = Buffer.alloc(TRAILER_BYTES);
  const position = fstatSync(file).size - TRAILER_BYTES;
  if (position < 0 || readSync(file, trailer, 0, TRAILER_BYTES, position) < TRAILER_BYTES) return null;
  if (trailer.toString("latin1", 0, MAGIC.length) !== MAGIC) return null;
  const number = (index: number) => Number(trailer.readBigUInt64LE(MAGIC.length + 8 * index));
  return {
    ...{ path: FILE_NAME, executable: true, offset: number(0), packedBytes: number(1), bytes: number(2) },
    sha256: trailer.toString("hex", MAGIC.length + 24),
  };
}

/** Returns the name of an inner program's directory below a runtime directory, as the launcher knows it. */
export function innerDirectoryName({ sha256 }: Pick<InnerProgram, "sha256">): string {
  return sha256.slice(0, 32);
}
