import { describe, expect, test } from "bun:test";
import { withoutQuietFrames } from "../../../src/speech/diarization/live-speech.ts";

/** Frames in which the model finds speech with a probability, at a level in dB. */
const frames = (...parts: readonly (readonly [count: number, probability: number, decibels: number])[]) => ({
  speech: parts.flatMap(([count, probability]) => Array<number>(count).fill(probability)),
  decibels: parts.flatMap(([count, , decibels]) => Array<number>(count).fill(decibels)),
});

describe("speech detection of live sessions", () => {
  test("finds no speech where the sound is far quieter than the speech before", () => {
    const { speech, decibels } = frames([100, 1, -30], [20, 0.6, -70]);
    const found = withoutQuietFrames(speech, decibels);
    expect(found.slice(0, 103)).toEqual(speech.slice(0, 103));
    expect(found.slice(103)).toEqual(Array(17).fill(0));
  });

  test.each([
    ["speech of a quieter person", frames([100, 1, -30], [20, 0.8, -55])],
    ["the closure of a consonant", frames([100, 1, -30], [6, 0.9, -80], [50, 1, -32])],
    ["sound in a noisy room", frames([100, 1, -30], [50, 0.3, -48])],
    ["a window with hardly any speech", frames([9, 1, -30], [284, 0.2, -80])],
  ])("stays as the model finds it for %s", (_what, { speech, decibels }) => {
    expect(withoutQuietFrames(speech, decibels)).toEqual(speech);
  });
});
