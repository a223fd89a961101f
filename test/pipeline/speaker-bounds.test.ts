import { describe, expect, test } from "bun:test";
import { keepSpeakers } from "../../src/pipeline/second-pass.ts";
import { allotSpeakers, type SpeakerBounds } from "../../src/pipeline/speaker-bounds.ts";

describe("the speakers of separate channels", () => {
  const found = (...tracks: [speakers: number, seconds: number][]) =>
    tracks.map(([speakers, seconds]) => ({ speakers, seconds }));
  const cases: [string, SpeakerBounds, ReturnType<typeof found>, number[]][] = [
    ["no bounds", {}, found([2, 60], [1, 30]), [2, 1]],
    ["bounds that are met", { minSpeakers: 2, maxSpeakers: 3 }, found([2, 60], [1, 30]), [2, 1]],
    ["a speaker missing", { minSpeakers: 3 }, found([1, 60], [1, 30]), [2, 1]],
    ["several missing", { minSpeakers: 6, maxSpeakers: 6 }, found([1, 60], [1, 30]), [4, 2]],
    ["a speaker too many", { maxSpeakers: 3 }, found([2, 60], [2, 30]), [2, 1]],
    ["one for each channel", { minSpeakers: 2, maxSpeakers: 2 }, found([3, 60], [2, 30]), [1, 1]],
    ["fewer than channels", { minSpeakers: 1, maxSpeakers: 1 }, found([2, 60], [1, 30]), [1, 1]],
    ["a channel without words", { minSpeakers: 4 }, found([1, 60], [0, 0]), [4, 0]],
    ["no words at all", { minSpeakers: 4, maxSpeakers: 4 }, found([0, 0], [0, 0]), [0, 0]],
  ];
  test.each(cases)("with %s are allotted to the channels", (_, bounds, tracks, expected) => {
    expect(allotSpeakers(bounds, tracks)).toEqual(expected);
  });
});

describe("a second pass that leaves a speaker without speech", () => {
  const fragments = [0, 1, 2, 1].map((speaker, at) => ({
    startSeconds: 10 * at,
    endSeconds: 10 * at + 2 + at,
    speaker,
  }));

  test("is accepted while enough speakers remain", () => {
    expect(keepSpeakers(fragments, [0, 0, 2, 2], 2)).toEqual([0, 0, 2, 2]);
    expect(keepSpeakers(fragments, [0, 1, 2, 0], 50)).toEqual([0, 1, 2, 0]);
  });

  test("is undone for the speakers with the most speech otherwise", () => {
    expect(keepSpeakers(fragments, [0, 0, 0, 0], 2)).toEqual([0, 1, 0, 1]);
    expect(keepSpeakers(fragments, [0, 0, 0, 0], 3)).toEqual([0, 1, 2, 1]);
  });
});
