import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

/**
 * Size of a block file's header. It holds a mark of four letters, the first window, the number of records, the record
 * size and a digest. The digest covers these fields and the records.
 */
const HEADER_BYTES = 24;
const DIGEST_AT = 16;

/** Returns the path of a block's file in the directory of its kind. */
export function blockPath(directory: string, block: number): string {
  return join(directory, `${String(block).padStart(6, "0")}.block`);
}

/** Content of one block file. */
export interface BlockFile {
  /** First window of the block; 0 if the records are not windows. */
  firstWindow: number;
  /** Number of records in the body, and the size of each in bytes. */
  count: number;
  recordBytes: number;
  /** The concatenated records. The body starts at a multiple of eight bytes, so that floats can be viewed in place. */
  body: Uint8Array;
}

/**
 * Writes a block file atomically: writes a temporary file next to it, syncs and renames. `mark` names the kind and
 * version of the records (four ASCII letters).
 */
export async function writeBlockFile(path: string, mark: string, block: BlockFile): Promise<void> {
  const header = new Uint8Array(HEADER_BYTES);
  header.set(new TextEncoder().encode(mark));
  const view = new DataView(header.buffer);
  view.setUint32(4, block.firstWindow, true);
  view.setUint32(8, block.count, true);
  view.setUint32(12, block.recordBytes, true);
  view.setBigUint64(DIGEST_AT, digestOf(header, block.body), true);
  const partial = `${path}.partial`;
  const handle = await open(partial, "w");
  try {
    await writeWhole(handle, header);
    await writeWhole(handle, block.body);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, path);
}

/** Writes all bytes. A single write may be partial, for example when the disk is nearly full. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, bytes.byteLength - written)).bytesWritten;
  }
}

/**
 * Reads a block file.
 * @throws {Error} if the file is of another kind, its size differs from the header, or its digest does not match
 */
export async function readBlockFile(path: string, mark: string): Promise<BlockFile> {
  const bytes = await Bun.file(path).bytes();
  const isKind = bytes.length >= HEADER_BYTES && new TextDecoder().decode(bytes.subarray(0, 4)) === mark;
  if (!isKind) throw new Error(`${path} is no ${mark} block`);
  const { firstWindow, count, recordBytes, body, isWhole } = partsOf(bytes);
  if (!isWhole) throw new Error(`${path} is damaged: ${body.length} bytes for ${count} records`);
  return { firstWindow, count, recordBytes, body };
}

/**
 * Returns whether a block's file exists and is intact. Callers rely on this after a power failure, or after somebody
 * deleted files. Throws if the file cannot be read for another reason, for example too many open files.
 */
export async function isWholeBlock(directory: string, block: number): Promise<boolean> {
  try {
    const bytes = await readFile(blockPath(directory, block));
    return bytes.length >= HEADER_BYTES && partsOf(bytes).isWhole;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

function partsOf(bytes: Uint8Array): BlockFile & { readonly isWhole: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const [firstWindow, count, recordBytes] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
  ];
  const body = bytes.subarray(HEADER_BYTES);
  const isWhole =
    body.length === count * recordBytes &&
    view.getBigUint64(DIGEST_AT, true) === digestOf(bytes.subarray(0, HEADER_BYTES), body);
  return { firstWindow, count, recordBytes, body, isWhole };
}

/** Protects against accidental damage, not against deliberate manipulation. */
function digestOf(header: Uint8Array, body: Uint8Array): bigint {
  return Bun.hash.wyhash(body, Bun.hash.wyhash(header.subarray(0, DIGEST_AT)));
}
