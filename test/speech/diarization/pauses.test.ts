import { expect, test } from "bun:test";
import { FRAME_SAMPLES } from "../../../src/blocks/index.ts";
import { findPauses } from "../../../src/speech/diarization/pauses.ts";

/** Returns a tone that is quieter in frames `[start, end)`, by this factor. */
function toneWith(...quiet: [start: number, end: number, factor: number][]): Float32Array {
  return Float32Array.from({ length: 300 * FRAME_SAMPLES }, (_, sample) => {
    const frame = Math.floor(sample / FRAME_SAMPLES);
    const factor = quiet.find(([start, end]) => frame >= start && frame < end)?.[2] ?? 1;
    return 0.3 * factor * Math.sin(sample / 5);
  });
}

test("a pause is found at its quietest frame, and a weak syllable is not", () => {
  const samples = toneWith([80, 90, 0.1], [84, 85, 0], [200, 206, 0.4]);
  expect(findPauses(samples)).toEqual([84]);
});

test("of pauses within 0.6 s, the deepest is found", () => {
  expect(findPauses(toneWith([100, 103, 0.1], [120, 123, 0.01], [160, 163, 0.1]))).toEqual([121, 161]);
});

test("silence and steady sound have no pauses", () => {
  expect(findPauses(new Float32Array(300 * FRAME_SAMPLES))).toEqual([]);
  expect(findPauses(toneWith())).toEqual([]);
});
