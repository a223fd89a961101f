import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import {
  FRAME_SAMPLES,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  WINDOW_FRAMES,
  WINDOW_SAMPLES,
  windowSample,
} from "../../../src/blocks/index.ts";
import { withQuietSpeech } from "../../../src/speech/diarization/quiet-speech.ts";

const windowCount = 8;
const length = windowSample(windowCount - 1) + WINDOW_SAMPLES;
/** Frames of what is 30 dB quieter than what comes before and after it; four windows reach into it. */
const gap = { start: 400, end: 520 };

describe("a gap with sound that several windows reach into", () => {
  test("is checked alone in only one of them where nobody speaks", async () => {
    expect(await windowsHeard(0)).toEqual([1]);
  });

  test("is checked in all of them where somebody speaks", async () => {
    const [first, others = 0, raised] = await windowsHeard(1);
    expect(first).toBe(1);
    expect(others).toBeGreaterThan(2);
    expect(raised).toBe(others + 1);
  });

  test("is checked in all of them but not amplified where nobody surely speaks", async () => {
    const [first, others = 0, ...more] = await windowsHeard(0.4);
    expect(first).toBe(1);
    expect(others).toBeGreaterThan(2);
    expect(more).toEqual([]);
  });
});

/** Returns the number of windows in each pass of a model that gives the same probability of speech everywhere. */
async function windowsHeard(probability: number): Promise<number[]> {
  const next = randomNumbers(1);
  const isInGap = (frame: number) => frame >= gap.start && frame < gap.end;
  const samples = Float32Array.from({ length }, (_, at) => {
    const frame = Math.floor(at / FRAME_SAMPLES);
    // The silence at the end determines the noise level.
    const loudness = frame > length / FRAME_SAMPLES - 150 ? 0 : isInGap(frame) ? 0.01 : 0.3;
    return loudness * (next() - 0.5);
  });
  const perWindow = WINDOW_FRAMES * LOCAL_SPEAKERS;
  const probabilities = Float32Array.from({ length: windowCount * perWindow }, (_, at) => {
    const frame = Math.floor(at / perWindow) * HOP_FRAMES + Math.floor((at % perWindow) / LOCAL_SPEAKERS);
    return isInGap(frame) ? 0 : 1;
  });
  const windows = Array.from({ length: windowCount }, (_, window) =>
    samples.subarray(windowSample(window), windowSample(window) + WINDOW_SAMPLES),
  );
  const heard: number[] = [];
  await withQuietSpeech({ samples, recordedSamples: length, windows, probabilities }, async (some) => {
    heard.push(some.length);
    return new Float32Array(some.length * perWindow).fill(probability);
  });
  return heard;
}
