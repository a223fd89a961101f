import { expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { blockCount, FRAME_SAMPLES, frameSeconds } from "../../../src/blocks/index.ts";
import { knownSpeech, speechRegions } from "../../../src/speech/diarization/index.ts";
import { planChunks, planFinalChunks } from "../../../src/speech/plan-chunks.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { withBlocks } from "./fake-recording.ts";

/** Regions in frames, which the averaging over windows moves by none. */
async function regionsOf(
  frames: number,
  level: (frame: number) => number,
  amplitude?: (frame: number) => number,
): Promise<[number, number][]> {
  const activity = (frame: number, local: number) => (local === 0 ? level(frame) : 0);
  const regions = await withBlocks(
    { frames, activity, ...(amplitude === undefined ? {} : { amplitude }) },
    speechRegions,
  );
  const frame = (seconds: number) => Math.round((seconds - frameSeconds(0)) / (frameSeconds(1) - frameSeconds(0)));
  return regions.map(({ startSeconds, endSeconds }) => [frame(startSeconds), frame(endSeconds)]);
}

test("speech lasts while its probability stays above the lower threshold", async () => {
  const level = (frame: number) => (frame < 100 ? 0.1 : frame < 150 ? 0.9 : frame < 200 ? 0.2 : 0.1);
  expect(await regionsOf(600, level)).toEqual([[100, 200]]);
});

test("a span that never reaches the upper threshold is not speech", async () => {
  expect(await regionsOf(2000, () => 0.28)).toEqual([]);
});

test("speech across the border of two blocks is one region", async () => {
  const level = (frame: number) => (frame >= 7100 && frame < 7400 ? 1 : 0);
  expect(await regionsOf(9000, level)).toEqual([[7100, 7400]]);
});

test("continuous speech is cut at its weakest frame into regions of at most 29 s", async () => {
  const level = (frame: number) => (frame >= 1000 && frame < 1020 ? 0.5 : 1);
  const regions = await regionsOf(4000, level);
  expect(regions.length).toBe(3);
  expect(regions[0]?.[1]).toBeGreaterThanOrEqual(1000);
  expect(regions[0]?.[1]).toBeLessThan(1020);
  for (const [index, [start, end]] of regions.entries()) {
    expect(end - start).toBeLessThanOrEqual(29 / (frameSeconds(1) - frameSeconds(0)));
    if (index > 0) expect(start).toBe(regions[index - 1]?.[1] ?? 0);
  }
});

test("continuous speech is cut between words where the model sees no pause", async () => {
  const amplitude = (frame: number) => (frame >= 1000 && frame < 1012 ? 0.001 : 0.1 + (frame % 7) / 100);
  const regions = await regionsOf(2400, () => 1, amplitude);
  expect(regions[0]?.[1]).toBeGreaterThanOrEqual(1000);
  expect(regions[0]?.[1]).toBeLessThan(1012);
});

test("continuous speech across many blocks is cut without any loss", async () => {
  const regions = await regionsOf(30_000, () => 1);
  expect(regions[0]?.[0]).toBe(0);
  expect(regions.at(-1)?.[1]).toBeGreaterThan(29_990);
  for (const [index, [start, end]] of regions.entries()) {
    expect(end - start).toBeLessThanOrEqual(29 / (frameSeconds(1) - frameSeconds(0)));
    if (index > 0) expect(start).toBe(regions[index - 1]?.[1] ?? 0);
  }
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "the chunks that the first blocks of a recording determine are the first of the whole plan (seed %p)",
  async (seed) => {
    const random = randomNumbers(seed);
    const frames = 7200 * (3 + (seed % 3)) + Math.floor(random() * 7200);
    const levels: number[] = [];
    const loudness: number[] = [];
    // From long speech that must be cut, to short speech with silences of all lengths.
    while (levels.length < frames) {
      const spoken = Math.floor(random() * (seed % 2 === 0 ? 4000 : 300)) + 1;
      const silent = Math.floor(random() * (random() < 0.2 ? 1000 : 100));
      for (let frame = 0; frame < spoken; frame++) levels.push(random() < 0.01 ? 0.2 : 0.2 + 0.8 * random());
      for (let frame = 0; frame < silent; frame++) levels.push(0.1 * random());
    }
    for (let frame = 0; frame < frames; frame++) loudness.push(random() / 2);
    const activity = (frame: number, local: number) => (local === 0 ? (levels[frame] ?? 0) : 0);
    const amplitude = (frame: number) => loudness[frame] ?? 0;
    await withBlocks({ frames, activity, amplitude }, async (area) => {
      const totalSeconds = (frames * FRAME_SAMPLES) / SAMPLE_RATE;
      const regions = await speechRegions(area);
      const whole = planChunks(regions, totalSeconds, false);
      const blocks = blockCount(area.pcm.sampleCount);
      for (let known = 1; known < blocks; known++) {
        const part = await knownSpeech(area, known);
        expect(part.regions).toEqual(regions.slice(0, part.regions.length));
        expect(regions[part.regions.length]?.startSeconds ?? totalSeconds).toBeGreaterThanOrEqual(part.knownSeconds);
        const final = planFinalChunks(part.regions, part.knownSeconds, totalSeconds);
        expect(final).toEqual(whole.slice(0, final.length));
        // A block has 121 s. The last chunk may grow, and the speech before it may be one long run.
        expect(final.length).toBeGreaterThanOrEqual(
          whole.filter(({ endSeconds }) => endSeconds < known * 121 - 70).length,
        );
      }
    });
  },
);
