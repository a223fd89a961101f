import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { HOP_FRAMES } from "../../../src/blocks/index.ts";
import { cluster } from "../../../src/speech/diarization/index.ts";
import { averageLinkage, joinSimilar, type VoiceGroup } from "../../../src/speech/diarization/linkage.ts";
import { unit } from "../../../src/speech/diarization/similarity.ts";
import { divide, withoutSmall } from "../../../src/speech/diarization/speaker-bounds.ts";
import type { Voice } from "../../../src/speech/diarization/voices.ts";
import { withBlocks } from "./fake-recording.ts";

/** A voice in a direction, in degrees. */
function group(degrees: number, seconds = 1): VoiceGroup {
  const angle = (degrees / 180) * Math.PI;
  return { sum: Float32Array.of(Math.cos(angle), Math.sin(angle)).map((value) => value * seconds), seconds };
}
const seconds = (groups: readonly VoiceGroup[]) => groups.map((one) => one.seconds).sort((a, b) => a - b);
const divided = (voices: VoiceGroup[], fewest: number) => seconds(divide(voices, averageLinkage(voices), fewest));

describe("voices that are divided", () => {
  const voices = [group(0, 10), group(20, 20), group(90, 40), group(110, 80)];

  test("are cut where they are least similar", () => {
    expect(divided(voices, 2)).toEqual([30, 120]);
    expect(divided(voices, 4)).toEqual([10, 20, 40, 80]);
  });

  test("give each speaker enough speech before a short sound becomes a speaker", () => {
    expect(divided([...voices, group(200, 0.1)], 3)).toEqual([30, 40, 80]);
    expect(divided([group(0, 10), group(180, 0.1)], 2)).toEqual([0.1, 10]);
  });

  test("are never more than there are", () => {
    expect(divided(voices, 50)).toEqual([10, 20, 40, 80]);
    expect(divided([], 2)).toEqual([]);
  });
});

test("speakers of little speech are removed unless too few would remain", () => {
  const groups = [group(0, 100), group(90, 1), group(180, 0.5)];
  expect([1, 2, 3, 4].map((fewest) => seconds(withoutSmall(groups, fewest)))).toEqual([
    [100],
    [1, 100],
    [0.5, 1, 100],
    [0.5, 1, 100],
  ]);
});

test("groups are joined down to the maximum, the most similar first, and never below the minimum", () => {
  const groups = [group(0, 1), group(60, 2), group(100, 4), group(180, 8)];
  expect(seconds(joinSimilar(groups, () => 0.9, { min: 1, max: 3 }))).toEqual([1, 6, 8]);
  expect(seconds(joinSimilar(groups, () => 0.9, { min: 1, max: 1 }))).toEqual([15]);
  expect(seconds(joinSimilar(groups, () => -1, { min: 3, max: 9 }))).toEqual([1, 6, 8]);
});

describe("the speakers of a recording", () => {
  const TURN_FRAMES = 10 * HOP_FRAMES;
  /** Three people, of whom the second and the third have similar voices, take turns of ten windows. */
  const directionOf = (person: number) =>
    Float32Array.of(person === 0 ? 1 : 0, person > 0 ? 1 : 0, person === 2 ? 0.7 : 0);
  const talk = {
    frames: 30 * TURN_FRAMES,
    activity: (frame: number, local: number) => (local === 0 && frame % TURN_FRAMES < 8 * HOP_FRAMES ? 1 : 0),
    voices: (window: number): Voice[] => {
      const noise = randomNumbers(window + 1);
      const direction = directionOf(Math.floor(window / 10) % 3).map((value) => value + 0.1 * (noise() - 0.5));
      const start = window * HOP_FRAMES;
      const embedding = unit(direction);
      return [{ window, local: 0, cleanFrames: 200, fragments: [{ start, end: start + 200, embedding }] }];
    },
  };
  const counts = async (...bounds: [number, number][]) =>
    withBlocks(talk, async (area) => {
      const found: number[] = [];
      for (const [min, max] of bounds) {
        found.push(new Set((await cluster(area, { min, max })).map(({ speaker }) => speaker)).size);
      }
      return found;
    });

  test("are as many as is asked for, within any bounds", async () => {
    const any = Number.POSITIVE_INFINITY;
    expect(await counts([1, any], [1, 1], [2, 2], [3, 3], [6, 6])).toEqual([2, 1, 2, 3, 6]);
    expect(await counts([3, any], [1, 2], [3, 5], [1, 50])).toEqual([3, 2, 3, 2]);
  });

  test("are the same as without bounds if their number is within the bounds", async () => {
    await withBlocks(talk, async (area) => {
      const free = await cluster(area);
      for (const [min, max] of [
        [2, 2],
        [1, 2],
        [2, 50],
      ] as const)
        expect(await cluster(area, { min, max })).toEqual(free);
    });
  });

  test("are none without speech and one in a single turn, whatever is asked for", async () => {
    const silence = { frames: 1000, activity: () => 0 };
    expect(await withBlocks(silence, (area) => cluster(area, { min: 50, max: 50 }))).toEqual([]);
    const once = { ...talk, frames: HOP_FRAMES };
    const turns = await withBlocks(once, (area) => cluster(area, { min: 50, max: 50 }));
    expect(turns.map(({ speaker }) => speaker)).toEqual([0]);
  });
});
