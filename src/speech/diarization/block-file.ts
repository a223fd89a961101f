import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

/**
 * Bytes before a block file's records: a mark of four letters, the first window, the number of records, a record's size, and a
 * digest of all these and of the records.
 */
const HEADER_BYTES = 24;
const DIGEST_AT = 16;

/** Where the file of a block lies in its kind's directory. */
export function blockPath(directory: string, block: number): string {
  return join(directory, `${String(block).padStart(6, "0")}.block`);
}

/** What one block file holds. */
export interface BlockFile {
  /** The first window of the block; 0 where it holds something else. */
  firstWindow: number;
  /** Records in the body, and the bytes of each. */
  count: number;
  recordBytes: number;
  /** The records, end to end; starts at a multiple of eight bytes, so that floats can be viewed in place. */
  body: Uint8Array;
}

/**
 * Writes a block file whole or not at all: beside its place first, synced, then renamed. `mark` names the kind and
 * version of its records (four ASCII letters).
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

/** A write may take only a part, near a full disk for one. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, bytes.byteLength - written)).bytesWritten;
  }
}

/** Reads a block file; throws where it is of another kind, has another size than it says, or is not as it was written. */
export async function readBlockFile(path: string, mark: string): Promise<BlockFile> {
  const bytes = await Bun.file(path).bytes();
  const isKind = bytes.length >= HEADER_BYTES && new TextDecoder().decode(bytes.subarray(0, 4)) === mark;
  if (!isKind) throw new Error(`${path} is no ${mark} block`);
  const { firstWindow, count, recordBytes, body, isWhole } = partsOf(bytes);
  if (!isWhole) throw new Error(`${path} is damaged: ${body.length} bytes for ${count} records`);
  return { firstWindow, count, recordBytes, body };
}

/**
 * Whether a block's file is there and as it was written, so that it may be relied on after a power cut, or where somebody
 * cleared up. Throws where it can't be looked at, as with too many open files.
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

/** Against mishaps, not against anybody's intent. */
function digestOf(header: Uint8Array, body: Uint8Array): bigint {
  return Bun.hash.wyhash(body, Bun.hash.wyhash(header.subarray(0, DIGEST_AT)));
}
