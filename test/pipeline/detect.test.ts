import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { writeBlock } from "../../src/blocks/index.ts";
import { DetectedBlocks, detect } from "../../src/pipeline/detect.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const wholeBlock: Uint8Array | null = await blockOfNothing();
const chunks = [{ startSeconds: 0, endSeconds: 4, speech: [{ startSeconds: 0.2, endSeconds: 3.8 }] }];

const planned = [{ startSeconds: 1, endSeconds: 3, speech: [] }];

/** The content of a block's file without records. */
async function blockOfNothing(): Promise<Uint8Array> {
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm: { path: "unused", sampleCount: 0 } };
  const content = { firstWindow: 0, count: 0, recordBytes: 0, body: new Uint8Array(0) };
  await writeBlock(area, "activity", 0, "TAC2", content);
  return await Bun.file(join(directory.path, "activity/000000.block")).bytes();
}

/** @param blockFile the content at the path of the first block's file */
async function detectedAfter(plan: object, blockStep = "activity", blockFile = wholeBlock) {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "activity"));
  const area = { directory: directory.path, pcm: { path: "pcm", sampleCount: 64_000 } };
  if (blockFile !== null) writeFileSync(join(directory.path, "activity/000000.block"), blockFile);
  const stored = storedRecording();
  const { checkpoints } = stored;
  checkpoints.write(blockStep, 0, Type.Object({}), {});
  checkpoints.write("plan", 0, Type.Object({}), plan);
  checkpoints.write("transcribe", 0, Type.Object({}), {});
  const operations: string[] = [];
  const run = async (operation: string) => {
    operations.push(operation);
    return { chunks };
  };
  const context = stepContext(stored, run, { area });
  const detected = await detect(context, { index: 0, isParty: false, pcm: area.pcm }, new DetectedBlocks());
  return { finished: [...checkpoints.finished("transcribe")], chunks: detected.chunks, operations };
}

test("a stored plan is kept, with the words of its chunks", async () => {
  expect(await detectedAfter({ chunks: planned })).toEqual({ finished: [0], chunks: planned, operations: [] });
});

test("a plan of another version's form is made again, and the words of its chunks are discarded", async () => {
  expect(await detectedAfter({ chunks: [{ startSeconds: 0, endSeconds: 2 }] })).toEqual({
    finished: [],
    chunks,
    operations: ["planChunks"],
  });
});

test("blocks of another length from an earlier version are detected again", async () => {
  const { operations, chunks: kept } = await detectedAfter({ chunks: planned }, "detect");
  expect({ operations, kept }).toEqual({ operations: ["detectBlock"], kept: planned });
});

test.each([
  ["is missing", null],
  ["ends in its header", new Uint8Array(15)],
  [
    "is shorter than its header declares",
    Uint8Array.from({ length: 100 }, (_, at) => (at === 8 || at === 12 ? 40 : 0)),
  ],
])("a block with a checkpoint whose file %s is detected again", async (_, file) => {
  const { operations, chunks: kept } = await detectedAfter({ chunks: planned }, "activity", file);
  expect({ operations, kept }).toEqual({ operations: ["detectBlock"], kept: planned });
});
