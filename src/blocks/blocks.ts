import { mkdirSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../text/index.ts";
import type { WorkArea } from "../timeline/index.ts";

/** Block files of a track: speaker activity, voice embeddings of windows, and voice embeddings of sentences. */
export type BlockKind = "activity" | "embeddings" | "sentences";

/** Content of one block file. */
interface Block {
  /** First window of the block; 0 if the records are not windows. */
  firstWindow: number;
  /** Number of records in the body, and the size of each in bytes. */
  count: number;
  recordBytes: number;
  /** The concatenated records. The body starts at a multiple of eight bytes, so that floats can be viewed in place. */
  body: Uint8Array;
}

/**
 * Size of a block file's header. It holds a mark of four letters, the first window, the number of records, the record
 * size and a digest. The digest covers these fields and the records.
 */
const HEADER_BYTES = 24;
const DIGEST_AT = 16;

export function blockPath({ directory }: WorkArea, kind: BlockKind, block: number): string {
  return join(directory, kind, `${String(block).padStart(6, "0")}.block`);
}

/**
 * Creates the directory of a kind of block files. The area's own directory is not created: it is gone when the
 * recording was deleted, and nothing may be written for it any more.
 */
export function makeBlockDirectory({ directory }: WorkArea, kind: BlockKind): void {
  try {
    mkdirSync(join(directory, kind), { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * Reads a block's file.
 * @param mark the kind and version of the records, four ASCII letters
 * @throws {Error} if the file is missing, damaged, or has another mark
 */
export async function readBlock(area: WorkArea, kind: BlockKind, block: number, mark: string): Promise<Block> {
  const path = blockPath(area, kind, block);
  const bytes = await Bun.file(path).bytes();
  const hasMark = bytes.length >= HEADER_BYTES && new TextDecoder().decode(bytes.subarray(0, 4)) === mark;
  if (!hasMark) throw new Error(`${path} is no ${mark} block`);
  const { firstWindow, count, recordBytes, body, isIntact } = parse(bytes);
  if (!isIntact) throw new Error(`${path} is damaged: ${body.length} bytes for ${count} records`);
  return { firstWindow, count, recordBytes, body };
}

/**
 * Writes a block's file atomically: writes a temporary file next to it, syncs and renames. An operation that was given
 * up may still be writing the same block, so each has a temporary file of its own.
 */
export async function writeBlock(
  area: WorkArea,
  kind: BlockKind,
  block: number,
  mark: string,
  content: Block,
): Promise<void> {
  makeBlockDirectory(area, kind);
  const path = blockPath(area, kind, block);
  const header = new Uint8Array(HEADER_BYTES);
  header.set(new TextEncoder().encode(mark));
  const view = new DataView(header.buffer);
  view.setUint32(4, content.firstWindow, true);
  view.setUint32(8, content.count, true);
  view.setUint32(12, content.recordBytes, true);
  view.setBigUint64(DIGEST_AT, digestOf(header, content.body), true);
  const partial = `${path}.${Bun.randomUUIDv7()}.partial`;
  try {
    const handle = await open(partial, "wx");
    try {
      await writeAt(handle, header, 0);
      await writeAt(handle, content.body, HEADER_BYTES);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Returns whether a block's file exists and is intact. Callers rely on this after a power failure, or after somebody
 * deleted files. Throws if the file cannot be read for another reason, for example too many open files.
 */
export async function hasBlock(area: WorkArea, kind: BlockKind, block: number): Promise<boolean> {
  try {
    const bytes = await readFile(blockPath(area, kind, block));
    return bytes.length >= HEADER_BYTES && parse(bytes).isIntact;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Writes all bytes at a position. A single write may be partial, for example when the disk is nearly full. */
export async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
  }
}

function parse(bytes: Uint8Array): Block & { readonly isIntact: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const count = view.getUint32(8, true);
  const recordBytes = view.getUint32(12, true);
  const body = bytes.subarray(HEADER_BYTES);
  const isIntact =
    body.length === count * recordBytes &&
    view.getBigUint64(DIGEST_AT, true) === digestOf(bytes.subarray(0, HEADER_BYTES), body);
  return { firstWindow: view.getUint32(4, true), count, recordBytes, body, isIntact };
}

/** Protects against accidental damage, not against deliberate manipulation. */
function digestOf(header: Uint8Array, body: Uint8Array): bigint {
  return Bun.hash.wyhash(body, Bun.hash.wyhash(header.subarray(0, DIGEST_AT)));
}
