import { expect, test } from "bun:test";
import { frameSeconds, HOP_FRAMES, WINDOW_FRAMES } from "../../../src/blocks/index.ts";
import { assignFragments } from "../../../src/speech/diarization/assign.ts";
import { cluster } from "../../../src/speech/diarization/index.ts";
import { partsOf } from "../../../src/speech/diarization/voice-parts.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";
import { withBlocks } from "./fake-recording.ts";

const ANNA = Float32Array.from([1, 0, 0]);
const BEN = Float32Array.from([0, 1, 0]);
const ANNA_AGAIN = Float32Array.from([0.6, 0, 0.8]);

/** Returns a voice of fragments of 40 frames with these embeddings. */
function voiceOf(...embeddings: Float32Array[]): Voice {
  const fragments = embeddings.map((embedding, at) => ({ start: at * 40, end: at * 40 + 40, embedding }));
  return { window: 0, local: 0, cleanFrames: 40 * embeddings.length, fragments };
}

test("a voice in which the segmentation merged two people is divided into theirs", () => {
  const parts = partsOf(voiceOf(ANNA, BEN, ANNA_AGAIN, BEN));
  expect(parts.map(({ cleanFrames, fragments }) => [cleanFrames, fragments.map(({ start }) => start)])).toEqual([
    [80, [0, 80]],
    [80, [40, 120]],
  ]);
});

test("a voice of one person stays whole", () => {
  for (const voice of [voiceOf(ANNA), voiceOf(ANNA, ANNA_AGAIN, ANNA)]) expect(partsOf(voice)).toEqual([voice]);
});

test("the parts of a divided voice go to the speakers whom they resemble", () => {
  expect(assignFragments(voiceOf(ANNA, BEN, ANNA_AGAIN, BEN), 0, [ANNA, BEN])).toEqual([0, 1, 0, 1]);
  expect(assignFragments(voiceOf(ANNA, ANNA_AGAIN), 0, [ANNA, BEN])).toEqual([0, 0]);
  expect(assignFragments(voiceOf(ANNA, BEN), -1, [ANNA, BEN])).toEqual([-1, -1]);
});

/** Returns the turns of a recording in which one local speaker speaks throughout, in ten or more fragments of this length. */
async function turnsOf(length: number, frames: number, embeddingOf: (fragment: number) => Float32Array) {
  const voices = (window: number): Voice[] => {
    const fragments = Array.from({ length: frames / length }, (_, at) => at).flatMap((at) => {
      const start = Math.max(at * length, window * HOP_FRAMES);
      const end = Math.min(at * length + length, window * HOP_FRAMES + WINDOW_FRAMES);
      return end - start < 24 ? [] : [{ start, end, embedding: embeddingOf(at) }];
    });
    return [{ window, local: 0, cleanFrames: WINDOW_FRAMES, fragments }];
  };
  return await withBlocks({ frames, activity: (_, local) => (local === 0 ? 1 : 0), voices }, (area) => cluster(area));
}

test("people who take turns of a second are found, although they are one local speaker in each window", async () => {
  const turns = await turnsOf(60, 1200, (fragment) => (fragment % 2 === 0 ? ANNA : BEN));
  for (let fragment = 0; fragment < 20; fragment++) {
    const middle = frameSeconds((fragment + 0.5) * 60);
    const speakers = turns.flatMap(({ startSeconds, endSeconds, speaker }) => {
      return startSeconds <= middle && middle < endSeconds ? [speaker] : [];
    });
    expect([fragment, ...speakers]).toEqual([fragment, fragment % 2]);
  }
});

test("a stressed word is not another speaker", async () => {
  const turns = await turnsOf(50, 500, (fragment) => (fragment === 5 ? BEN : ANNA));
  expect(new Set(turns.map(({ speaker }) => speaker)).size).toBe(1);
});
