import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join } from "node:path";

/** Bytes before a block file's records: a mark of four letters, the first window, the number of records, a record's size. */
const HEADER_BYTES = 16;

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

/** Reads a block file; throws where it is of another kind or has another size than it says. */
export async function readBlockFile(path: string, mark: string): Promise<BlockFile> {
  const bytes = await Bun.file(path).bytes();
  const isKind = bytes.length >= HEADER_BYTES && new TextDecoder().decode(bytes.subarray(0, 4)) === mark;
  if (!isKind) throw new Error(`${path} is no ${mark} block`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const firstWindow = view.getUint32(4, true);
  const count = view.getUint32(8, true);
  const recordBytes = view.getUint32(12, true);
  const body = bytes.subarray(HEADER_BYTES);
  if (body.length !== count * recordBytes)
    throw new Error(`${path} is damaged: ${body.length} bytes for ${count} records`);
  return { firstWindow, count, recordBytes, body };
}

/**
 * Whether a block's file is there and as long as it says, so that it may be relied on after a power cut, or where somebody
 * cleared up. What is wrong within it isn't noticed. Throws where it can't be looked at, as with too many open files.
 */
export function isWholeBlock(directory: string, block: number): boolean {
  let file: number;
  try {
    file = openSync(blockPath(directory, block), "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
  try {
    const header = new Uint8Array(HEADER_BYTES);
    if (readSync(file, header) < HEADER_BYTES) return false;
    const view = new DataView(header.buffer);
    return fstatSync(file).size === HEADER_BYTES + view.getUint32(8, true) * view.getUint32(12, true);
  } finally {
    closeSync(file);
  }
}
