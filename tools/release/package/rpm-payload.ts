import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** A file or directory of an RPM package. */
export interface RpmFile {
  /** Absolute path on the machine. */
  readonly path: string;
  /** Type and permissions, as in stat(2). */
  readonly mode: number;
  /** Content of a file; null for a directory. */
  readonly content: Blob | null;
}

/** On the program of 0.3.0: level 1 gives 360 MB in 4.5 s, level 4 330 MB in 7.3 s, level 9 327 MB in 15.6 s. */
export const GZIP_LEVEL = 4;
/** First number that a size field of the archive and of the header can't hold. Larger files need another format. */
const SIZE_LIMIT = 2 ** 32;
const LAST_NAME = "TRAILER!!!";

/**
 * Writes the payload of a package: a cpio archive (SVR4 without checksums, "newc"), compressed with gzip. Files are
 * streamed, and the same files always give the same bytes.
 * @param epoch modification time of all files
 * @returns the size before the compression, size and SHA-256 of the compressed archive, and the SHA-256 of each file in
 * their order, empty for directories
 * @throws {Error} when a file has 4 GiB or more, or changes meanwhile
 */
export async function writePayload(target: string, files: readonly RpmFile[], epoch: number) {
  const compressed = new Bun.CryptoHasher("sha256");
  const fileDigests: string[] = [];
  let archiveBytes = 0;
  let bytes = 0;
  await pipeline(
    async function* () {
      for await (const piece of archivePieces(files, epoch, fileDigests)) {
        archiveBytes += piece.length;
        yield piece;
      }
    },
    createGzip({ level: GZIP_LEVEL }),
    async function* (pieces: AsyncIterable<Uint8Array>) {
      for await (const piece of pieces) {
        compressed.update(piece);
        bytes += piece.length;
        yield piece;
      }
    },
    createWriteStream(target),
  );
  return { archiveBytes, bytes, sha256: compressed.digest("hex"), fileDigests };
}

export type Payload = Awaited<ReturnType<typeof writePayload>>;

async function* archivePieces(files: readonly RpmFile[], epoch: number, digests: string[]): AsyncGenerator<Uint8Array> {
  for (const [index, { path, mode, content }] of files.entries()) {
    const size = content?.size ?? 0;
    if (size >= SIZE_LIMIT) throw new Error(`${path} has ${size} bytes; a file of an RPM package has less than 4 GiB`);
    yield memberHeader(`.${path}`, { inode: index + 1, mode, epoch, size });
    if (content === null) {
      digests.push("");
      continue;
    }
    const hasher = new Bun.CryptoHasher("sha256");
    let read = 0;
    for await (const piece of content.stream()) {
      hasher.update(piece);
      read += piece.length;
      yield piece;
    }
    if (read !== size) throw new Error(`${path} changed while it was packed: ${read} bytes instead of ${size}`);
    digests.push(hasher.digest("hex"));
    yield Buffer.alloc(padding(size));
  }
  yield memberHeader(LAST_NAME, { inode: 0, mode: 0, epoch: 0, size: 0 });
}

/** Returns the header of a member of the archive: fields of eight hexadecimal digits, the name, and its padding. */
function memberHeader(
  name: string,
  { inode, mode, epoch, size }: { inode: number; mode: number; epoch: number; size: number },
): Buffer {
  const stored = Buffer.from(`${name}\0`);
  const [user, group, links, device, deviceType, checksum] = [0, 0, 1, 0, 0, 0];
  const fields = [
    ...[inode, mode, user, group, links, epoch, size],
    ...[device, device, deviceType, deviceType, stored.length, checksum],
  ];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`);
  return Buffer.concat([header, stored, Buffer.alloc(padding(header.length + stored.length))]);
}

/** Returns the number of zero bytes up to a multiple of four. */
function padding(length: number): number {
  return -length & 3;
}
