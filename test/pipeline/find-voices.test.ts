import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { BLOCK_SECONDS, blockCount, writeBlock } from "../../src/blocks/index.ts";
import { DetectedBlocks } from "../../src/pipeline/detect.ts";
import { findVoices } from "../../src/pipeline/diarize.ts";
import type { Track, TrackContext } from "../../src/pipeline/tracks.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const track: Track = {
  index: 0,
  isParty: false,
  pcm: { path: "unused", sampleCount: 2 * BLOCK_SECONDS * SAMPLE_RATE },
};

/** Starts to find the voices of a recording of two blocks. @param stored blocks whose voices are stored */
async function started(directory: string, stored: readonly number[] = []) {
  const operations: string[] = [];
  const run = async (operation: string, { block }: { block?: number }) => {
    operations.push(block === undefined ? operation : `${operation} ${block}`);
    return { turns: [] };
  };
  const controller = new AbortController();
  const engine = { run, partsAtOnce: 2 } as unknown as TrackContext["engine"];
  const context = stepContext(storedRecording(), run, { directory, engine, signal: controller.signal });
  const area = { directory: context.files.trackDirectory(0), pcm: track.pcm };
  context.files.prepareWork();
  for (const block of stored) {
    const content = { firstWindow: 0, count: 0, recordBytes: 0, body: new Uint8Array(0) };
    await writeBlock(area, "embeddings", block, "TEST", content);
    context.checkpoints.write("voices", block, Type.Object({}), {});
  }
  const blocks = new DetectedBlocks();
  return { controller, blocks, operations, finished: findVoices(context, [track], blocks) };
}

/** Resolves when everything that was ready has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

test("voices of a block are embedded as soon as its activity is known, and speakers are clustered after the last", async () => {
  using directory = temporaryDirectory();
  const { blocks, operations, finished } = await started(directory.path);
  expect(blockCount(track.pcm.sampleCount)).toBe(2);
  await settled();
  expect(operations).toEqual([]);
  blocks.add(track, 1);
  await settled();
  expect(operations).toEqual(["embedBlock 1"]);
  blocks.add(track, 0);
  await finished;
  expect(operations).toEqual(["embedBlock 1", "embedBlock 0", "clusterSpeakers"]);
});

test("speakers are not clustered before lost activity is detected again, although all voices are stored", async () => {
  using directory = temporaryDirectory();
  const { blocks, operations, finished } = await started(directory.path, [0, 1]);
  blocks.add(track, 1);
  for (let turn = 0; turn < 5; turn++) await settled();
  expect(operations).toEqual([]);
  blocks.add(track, 0);
  await finished;
  expect(operations).toEqual(["clusterSpeakers"]);
});

test("the search for voices ends when it is aborted before any activity is known", async () => {
  using directory = temporaryDirectory();
  const { controller, operations, finished } = await started(directory.path);
  await settled();
  controller.abort(new Error("no speech"));
  await expect(finished).rejects.toThrow("no speech");
  expect(operations).toEqual([]);
});
