import { expect, test } from "bun:test";
import { speechRegions } from "../../../src/speech/diarization/index.ts";
import { frameSeconds } from "../../../src/timeline/grid.ts";
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
