import { expect, test } from "bun:test";
import type { Outline, Segment, Word } from "../../../src/console/contract/index.ts";
import {
  beginsTurn,
  neighbourStart,
  segmentAt,
  speakerAt,
  wordAt,
  wordAtCharacter,
} from "../../../src/console/page/recording/places.ts";
import { barsOf, peaksOf, rangeOf, viewAround } from "../../../src/console/page/recording/player/wave-bars.ts";
import { fragmentsOf } from "../../../src/console/page/recording/transcript/highlights.ts";

const outline: Outline = {
  revision: 0,
  start_milliseconds: [1_000, 3_000, 3_000, 8_000],
  end_milliseconds: [2_500, 4_000, 6_000, 9_000],
  speaker: [0, 1, 1, 0],
  characters: [5, 5, 5, 5],
  next_after: null,
};
const words: Word[] = [
  [0, 3, 1, 1.4, 0.9],
  [4, 9, 1.4, 2, 0.3],
  [10, 12, 2.2, 2.5, 0.9],
];
const segment: Segment = {
  ...{ id: 0, index: 0, start: 1, end: 2.5, speaker: "A", text: "one twowo so", words },
  is_speaker_uncertain: false,
};

test.each([
  [0, -1, -1],
  [1, 0, 0],
  [2.7, 0, -1],
  [3, 2, 1],
  [5.9, 2, 1],
  [7, 2, -1],
  [100, 3, -1],
])("segmentAt and speakerAt return the segment and the speaker at %d seconds", (seconds, index, speaker) => {
  expect([segmentAt(outline, seconds), speakerAt(outline, seconds)]).toEqual([index, speaker]);
});

test.each([
  [0.9, undefined],
  [1.1, 0],
  [1.4, 4],
  [2.1, 4],
  [2.3, 10],
  [2.79, 10],
  [2.9, undefined],
])("wordAt returns the word at %d seconds, and keeps it briefly during a pause", (seconds, from) => {
  expect(wordAt(segment, seconds)?.[0]).toBe(from);
});

test.each([
  [0.5, 0, 0],
  [2.5, 1, 1],
  [4, 0, 0],
  [9, 2, 1],
  [11, 2, 1],
  [30, 2, -1],
])("of parties who speak at once, the one who speaks at %d seconds is followed", (seconds, index, speaker) => {
  const overlapping: Outline = {
    revision: 0,
    start_milliseconds: [0, 2_000, 8_000],
    end_milliseconds: [10_000, 3_000, 12_000],
    speaker: [0, 1, 1],
    characters: [5, 5, 5],
    next_after: null,
  };
  expect([segmentAt(overlapping, seconds), speakerAt(overlapping, seconds)]).toEqual([index, speaker]);
});

test("a joined segment of two parties has the word that is spoken, and its neighbours in time", () => {
  const joined: Segment = {
    ...{ id: 0, index: 0, start: 1, end: 9, speaker: "A", text: "one two six", is_speaker_uncertain: false },
    words: [
      [0, 3, 1, 2, 0.9],
      [4, 7, 8, 9, 0.9],
      [8, 11, 3, 4, 0.9],
    ],
  };
  expect([1.5, 3.5, 6, 8.5].map((seconds) => wordAt(joined, seconds)?.[0])).toEqual([0, 8, undefined, 4]);
  expect([neighbourStart(joined, 1, 1), neighbourStart(joined, 3, 1), neighbourStart(joined, 8.5, 1)]).toEqual([
    3,
    8,
    null,
  ]);
  expect([neighbourStart(joined, 8, -1), neighbourStart(joined, 3, -1)]).toEqual([3, 1]);
});

test("a click next to a word selects the nearest word", () => {
  expect([0, 3, 4, 9, 10, 50].map((character) => wordAtCharacter(segment, character)?.[0])).toEqual([
    0, 0, 4, 4, 10, 10,
  ]);
  expect(wordAtCharacter({ ...segment, words: [] }, 3)).toBeNull();
});

test("neighbourStart returns the next word, or the start of the current word unless it has just begun", () => {
  expect([neighbourStart(segment, 1.4, 1), neighbourStart(segment, 2.3, 1)]).toEqual([2.2, null]);
  expect([neighbourStart(segment, 1.5, -1), neighbourStart(segment, 2, -1), neighbourStart(segment, 1, -1)]).toEqual([
    1,
    1.4,
    null,
  ]);
});

test("a turn begins where the speaker changes", () => {
  expect([0, 1, 2, 3].map((index) => beginsTurn(outline, index))).toEqual([true, true, false, true]);
});

test("a text is split where a mark starts or ends, without losing a character", () => {
  const fragments = fragmentsOf("one two three", { doubtful: [[4, 7]], found: [[2, 5]], playing: [[20, 30]] });
  expect(fragments).toEqual([
    { from: 0, text: "on", layers: [] },
    { from: 2, text: "e ", layers: ["found"] },
    { from: 4, text: "t", layers: ["doubtful", "found"] },
    { from: 5, text: "wo", layers: ["doubtful"] },
    { from: 7, text: " three", layers: [] },
  ]);
});

test("a bar of the waveform has the loudest peak of its time range and the speaker at its middle", () => {
  const values = Buffer.from([0, 0, 51, 255, 0, 0, 0, 102]);
  const peaks = peaksOf({ peaks_per_second: 1, start_seconds: 0, peaks: values.toString("base64") });
  const bars = barsOf(peaks, outline, { from: 0, to: 8 }, 4);
  expect(bars.map(({ seconds, speaker }) => [seconds, speaker])).toEqual([
    [1, 0],
    [3, 1],
    [5, 1],
    [7, -1],
  ]);
  expect(bars.map(({ height }) => Math.round(height * 100))).toEqual([6, 100, 6, 40]);
  expect(barsOf(null, outline, { from: 0, to: 8 }, 4).map(({ height }) => height)).toEqual([0.4, 0.4, 0.4, 0.06]);
});

test("a magnified view stays within the recording and is never shorter than 20 seconds", () => {
  expect(viewAround(0, 1_000, 4)).toEqual({ from: 0, to: 250 });
  expect(viewAround(990, 1_000, 4)).toEqual({ from: 750, to: 1_000 });
  expect(viewAround(500, 1_000, 1_024)).toEqual({ from: 490, to: 510 });
  expect(viewAround(3, 5, 16)).toEqual({ from: 0, to: 5 });
});

test("a view is requested in milliseconds, whatever the length of the recording", () => {
  expect(rangeOf({ from: 0, to: 69.0300625 })).toEqual({ from: "0.000", to: "69.031" });
  expect(rangeOf({ from: 1.3000000000000007, to: 21.30000000000001 })).toEqual({ from: "1.300", to: "21.301" });
  expect(rangeOf({ from: 1e-7, to: 20 })).toEqual({ from: "0.000", to: "20.000" });
});
