import { describe, expect, test } from "bun:test";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { buildSegments } from "../../src/pipeline/build-segments.ts";
import { fitSegments } from "../../src/pipeline/fit-to-turns.ts";
import type { Segment } from "../../src/segments/index.ts";
import type { Span, Turn } from "../../src/timeline/index.ts";
import { rounded, spans, turn } from "../support/spans.ts";
import { wordsFrom } from "./words.ts";

const segment = (startSeconds: number, endSeconds: number, speaker = 0): Segment => ({
  index: 0,
  startSeconds,
  endSeconds,
  speaker,
  text: "well",
  words: [{ text: " well", startSeconds, endSeconds, probability: 1 }],
});

describe("a segment", () => {
  const cases: [string, Segment[], Turn[], Span[]][] = [
    ["begins and ends with its turn", [segment(1.4, 3)], [turn(1, 3.6)], spans([1, 3.6])],
    ["moves its ends by two seconds at most", [segment(5, 6)], [turn(0, 20)], spans([3, 8])],
    ["is unchanged if its words are longer than the turn", [segment(1, 5)], [turn(2, 4)], spans([1, 5])],
    ["is unchanged if its speaker has no turn nearby", [segment(1, 2)], [turn(0, 3, 1), turn(4, 5)], spans([1, 2])],
    ["includes the pause after it within a turn", [segment(1, 2), segment(3, 4)], [turn(1, 4)], spans([1, 3], [3, 4])],
    [
      "excludes the pause between two turns",
      [segment(1, 2), segment(3, 4)],
      [turn(1, 2.2), turn(2.8, 4)],
      spans([1, 2.2], [2.8, 4]),
    ],
    [
      "continues during another speaker's words",
      [segment(1, 2), segment(2.1, 2.5, 1), segment(3, 4)],
      [turn(1, 4), turn(2, 2.6, 1)],
      spans([1, 3], [2, 2.6], [3, 4]),
    ],
    [
      "never starts before the previous segment",
      [segment(3, 4), segment(3.2, 5, 1)],
      [turn(3, 4), turn(2.5, 5, 1)],
      spans([3, 4], [3, 5]),
    ],
    ["spans several turns of its speaker", [segment(1, 4)], [turn(0.8, 2), turn(3, 4.1)], spans([0.8, 4.1])],
  ];
  test.each(cases)("%s", (_, segments, turns, expected) => {
    expect(rounded(fitSegments(segments, turns))).toEqual(expected);
  });
});

test("segments stay in order, contain their words, and never reach into the same speaker's next one", () => {
  // A fixed pseudo-random sequence: words and turns are unrelated.
  let state = 1;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  for (let round = 0; round < 200; round++) {
    const words = Array.from({ length: 30 }, () => wordsFrom(random() * 60, random() < 0.3 ? "Yes." : "and", random()))
      .flat()
      .sort((a, b) => a.startSeconds - b.startSeconds)
      .map((word, index, all) => ({
        ...word,
        endSeconds: Math.min(word.endSeconds, all[index + 1]?.startSeconds ?? 60),
      }));
    const turns = Array.from({ length: 12 }, () => {
      const startSeconds = random() * 60;
      return { startSeconds, endSeconds: startSeconds + random() * 9, speaker: Math.floor(random() * 3) };
    }).sort((a, b) => a.startSeconds - b.startSeconds);
    const before = buildSegments(assignSpeakers(words, turns));
    const after = fitSegments(before, turns);
    expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text));
    for (const [index, each] of after.entries()) {
      const was = before[index];
      expect(each.startSeconds).toBeLessThanOrEqual(was?.startSeconds ?? 0);
      expect(each.startSeconds).toBeGreaterThanOrEqual(after[index - 1]?.startSeconds ?? 0);
      expect(each.endSeconds).toBeGreaterThanOrEqual(was?.endSeconds ?? 0);
      const next = after.slice(index + 1).find(({ speaker }) => speaker === each.speaker);
      // Even a word without length gives a segment of 10 ms.
      if (next !== undefined) expect(next.startSeconds).toBeGreaterThanOrEqual(each.endSeconds - 0.0101);
    }
  }
});
