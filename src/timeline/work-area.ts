import { mkdirSync } from "node:fs";
import { type FileHandle, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { type BlockFile, blockPath, isWholeBlock, readBlockFile, writeBlockFile } from "./block-file.ts";
import { pcmFileSchema } from "./spans.ts";

/**
 * Where the stored data of one track is: its PCM, and the block files that operations write. The operations of the
 * engine name it, and nothing else of the file system but models. It may be the work directory of a recording, or a
 * directory on another machine that holds the items which an operation needs.
 */
export const workAreaSchema = Type.Object({
  directory: Type.String({ minLength: 1 }),
  pcm: pcmFileSchema,
});
export type WorkArea = Static<typeof workAreaSchema>;

/** Block files of a track: speaker activity, voice embeddings of windows, and voice embeddings of sentences. */
export const blockKinds = ["activity", "embeddings", "sentences"] as const;
export type BlockKind = (typeof blockKinds)[number];

/** A part of a track's stored data that can be handed to another machine. */
export type WorkItem =
  | { readonly kind: "pcm"; readonly firstSample: number; readonly sampleCount: number }
  | { readonly kind: BlockKind; readonly block: number };

const BYTES_PER_SAMPLE = 2;

/**
 * Returns the directory of a kind of block files, and creates it. The area's own directory is not created: it is gone
 * when the recording was deleted, and nothing may be written for it any more.
 */
function blockDirectory({ directory }: WorkArea, kind: BlockKind): string {
  const path = join(directory, kind);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return path;
}

/** Reads a block's file. @throws {Error} if it is missing, damaged, or of another form than the mark says */
export async function readBlock(area: WorkArea, kind: BlockKind, block: number, mark: string): Promise<BlockFile> {
  return await readBlockFile(blockPath(join(area.directory, kind), block), mark);
}

/** Writes a block's file atomically. */
export async function writeBlock(
  area: WorkArea,
  kind: BlockKind,
  block: number,
  mark: string,
  content: BlockFile,
): Promise<void> {
  await writeBlockFile(blockPath(blockDirectory(area, kind), block), mark, content);
}

/** Returns whether a block's file exists and is intact. */
export async function hasBlock(area: WorkArea, kind: BlockKind, block: number): Promise<boolean> {
  return await isWholeBlock(join(area.directory, kind), block);
}

/** Reads an item. PCM beyond the recording's end is not part of it. @throws {Error} when it is missing */
export async function readItem(area: WorkArea, item: WorkItem): Promise<Uint8Array> {
  if (item.kind !== "pcm") return await readFile(blockPath(join(area.directory, item.kind), item.block));
  const first = Math.min(Math.max(0, item.firstSample), area.pcm.sampleCount);
  const end = Math.min(item.firstSample + item.sampleCount, area.pcm.sampleCount);
  await using file = await open(area.pcm.path, "r");
  return await readAt(file, first * BYTES_PER_SAMPLE, Math.max(0, end - first) * BYTES_PER_SAMPLE);
}

/**
 * Writes an item that `readItem` returned elsewhere. PCM goes to its place in a sparse file.
 * @throws {Error} when a block file is damaged
 */
export async function writeItem(area: WorkArea, item: WorkItem, bytes: Uint8Array): Promise<void> {
  if (item.kind === "pcm") {
    await using file = await open(area.pcm.path, "a").then(async (made) => {
      await made.close();
      return await open(area.pcm.path, "r+");
    });
    await file.write(bytes, 0, bytes.length, Math.max(0, item.firstSample) * BYTES_PER_SAMPLE);
    return;
  }
  const directory = blockDirectory(area, item.kind);
  const path = blockPath(directory, item.block);
  await writeFile(`${path}.partial`, bytes, { mode: 0o600 });
  await rename(`${path}.partial`, path);
  if (!(await isWholeBlock(directory, item.block))) throw new Error(`block ${item.block} of ${item.kind} is damaged`);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error(`the PCM ends after ${position + filled} bytes, before the recording does`);
    filled += bytesRead;
  }
  return bytes;
}
