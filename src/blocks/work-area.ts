import { type FileHandle, open, readFile, rename, writeFile } from "node:fs/promises";
import type { WorkArea } from "../timeline/index.ts";
import { type BlockKind, blockPath, hasBlock, makeBlockDirectory, writeAt } from "./blocks.ts";

/** A part of a track's stored data that can be handed to another machine. */
export type WorkItem =
  | { readonly kind: "pcm"; readonly firstSample: number; readonly sampleCount: number }
  | { readonly kind: BlockKind; readonly block: number };

const BYTES_PER_SAMPLE = 2;

/** An item whose size is known and whose bytes can be copied to their place in a message. */
export interface ReadableItem {
  readonly bytes: number;
  /** Reads the item. @throws {Error} when it is missing */
  readInto(target: Uint8Array): Promise<void>;
}

/** Opens an item. PCM beyond the recording's end is not part of it. @throws {Error} when it is missing */
export async function openItem(area: WorkArea, item: WorkItem): Promise<ReadableItem> {
  if (item.kind !== "pcm") {
    const block = await readFile(blockPath(area, item.kind, item.block));
    return { bytes: block.length, readInto: async (target) => target.set(block) };
  }
  const first = Math.min(Math.max(0, item.firstSample), area.pcm.sampleCount);
  const end = Math.min(item.firstSample + item.sampleCount, area.pcm.sampleCount);
  return {
    bytes: Math.max(0, end - first) * BYTES_PER_SAMPLE,
    async readInto(target) {
      await using file = await open(area.pcm.path, "r");
      await readAt(file, first * BYTES_PER_SAMPLE, target);
    },
  };
}

/**
 * Writes an item that was read elsewhere. PCM goes to its place in a sparse file.
 * @throws {Error} when a block file is damaged
 */
export async function writeItem(area: WorkArea, item: WorkItem, bytes: Uint8Array): Promise<void> {
  if (item.kind === "pcm") {
    await (await open(area.pcm.path, "a")).close();
    await using file = await open(area.pcm.path, "r+");
    await writeAt(file, bytes, Math.max(0, item.firstSample) * BYTES_PER_SAMPLE);
    return;
  }
  makeBlockDirectory(area, item.kind);
  const path = blockPath(area, item.kind, item.block);
  await writeFile(`${path}.partial`, bytes, { mode: 0o600 });
  await rename(`${path}.partial`, path);
  if (!(await hasBlock(area, item.kind, item.block))) throw new Error(`block ${item.block} of ${item.kind} is damaged`);
}

async function readAt(file: FileHandle, position: number, target: Uint8Array): Promise<void> {
  for (let filled = 0; filled < target.length; ) {
    const { bytesRead } = await file.read(target, filled, target.length - filled, position + filled);
    if (bytesRead === 0) throw new Error(`the PCM ends after ${position + filled} bytes, before the recording does`);
    filled += bytesRead;
  }
}
