import { expect, test } from "bun:test";
import { mergeTracks } from "../../src/pipeline/build-segments.ts";
import type { Segment } from "../../src/segments/index.ts";

/** Builds a track's segments from start, end, speaker in the track, and text. */
function segments(...all: readonly [number, number, number, string][]): Segment[] {
  return all.map(([startSeconds, endSeconds, speaker, text], index) => ({
    ...{ index, startSeconds, endSeconds, speaker, text },
    words: [{ text, startSeconds, endSeconds, probability: 0.9 }],
  }));
}

const brief = (merged: readonly Segment[]) =>
  merged.map(({ index, startSeconds, speaker, text }) => [index, startSeconds, speaker, text]);

test("segments of two tracks are ordered by their starts, and no speaker is on both tracks", () => {
  const { segments: merged, numbers } = mergeTracks([
    segments([1, 5, 0, "Good morning."], [9, 10, 1, "Who is it?"], [12, 13, 0, "Bye."]),
    segments([0.5, 0.9, 0, "Hello?"], [4, 8, 0, "It is me."], [9.5, 11, 1, "And me."]),
  ]);
  expect(brief(merged)).toEqual([
    [0, 0.5, 0, "Hello?"],
    [1, 1, 1, "Good morning."],
    [2, 4, 0, "It is me."],
    [3, 9, 2, "Who is it?"],
    [4, 9.5, 3, "And me."],
    [5, 12, 1, "Bye."],
  ]);
  expect(numbers.map((ofTrack) => [...ofTrack].sort())).toEqual([
    [
      [0, 1],
      [1, 2],
    ],
    [
      [0, 0],
      [1, 3],
    ],
  ]);
});

test("simultaneous segments of both parties stay whole", () => {
  const { segments: merged } = mergeTracks([
    segments([1, 5, 0, "No, listen to me."]),
    segments([1, 4, 0, "You never listen."]),
  ]);
  expect(merged.map(({ endSeconds, text, words }) => [endSeconds, text, words.length])).toEqual([
    [5, "No, listen to me.", 1],
    [4, "You never listen.", 1],
  ]);
});

test("one track is unchanged, and an empty track adds nothing", () => {
  const alone = segments([1, 5, 0, "One."], [6, 7, 1, "Two."], [8, 9, 0, "Three."]);
  expect(mergeTracks([alone]).segments).toEqual(alone);
  expect(mergeTracks([[], alone]).segments).toEqual(alone);
  expect(mergeTracks([[], []]).segments).toEqual([]);
});
