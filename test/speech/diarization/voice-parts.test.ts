import { expect, test } from "bun:test";
import { assignFragments } from "../../../src/speech/diarization/assign.ts";
import { partsOf } from "../../../src/speech/diarization/voice-parts.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";

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
