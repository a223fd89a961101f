import { describe, expect, test } from "bun:test";
import {
  edgeErrors,
  hallucinatedInGaps,
  hallucinatedPerHour,
  longestOutside,
  uncovered,
  wordsOutside,
} from "../../../tools/evaluate/times.ts";

const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });
const word = (text: string, startSeconds: number, endSeconds: number) => ({ text, startSeconds, endSeconds });

describe("the errors of the first and last words of turns", () => {
  const turns = [
    { ...span(1, 2), speaker: "a", text: "good old morning" },
    { ...span(3, 4), speaker: "b", text: "hello" },
  ];

  test("are the delays of their starts and ends against the turn", () => {
    const words = [
      word(" Good", 1.1, 1.3),
      word(" old", 1.3, 1.5),
      word(" morning.", 1.5, 1.9),
      word(" Hello,", 2.9, 4.2),
    ];
    const { starts, ends } = edgeErrors(turns, words);
    expect(starts.map((error) => error.toFixed(2))).toEqual(["0.10", "-0.10"]);
    expect(ends.map((error) => error.toFixed(2))).toEqual(["-0.10", "0.20"]);
  });

  test("are unknown when the word is wrong or missing", () => {
    const { starts, ends } = edgeErrors(turns, [
      word(" Wood", 1.1, 1.3),
      word(" old", 1.3, 1.5),
      word(" morning", 1.5, 1.9),
    ]);
    expect([starts, ends.length]).toEqual([[], 1]);
  });
});

test("a word counts as outside when a span of more than 0.2 s of it is in no turn", () => {
  const turns = [span(1, 2), span(1.5, 3), span(4, 5)];
  const inside = [word("in", 1, 2.5), word("early", 0.85, 1.5), word("late", 2.5, 3.15), word("across", 2.95, 3.1)];
  const outside = [
    word("before", 0.7, 1.2),
    word("after", 2.5, 3.3),
    word("over a pause", 2.8, 4.2),
    word("alone", 3.3, 3.7),
  ];
  expect(wordsOutside(turns, [...inside, ...outside])).toEqual(outside);
  expect(longestOutside(turns, span(0, 6))).toBe(1);
});

test("the uncovered parts of a span are returned in order", () => {
  expect(uncovered(span(0, 10), [span(5, 6), span(1, 3), span(2, 4), span(9.5, 12)])).toEqual([
    span(0, 1),
    span(4, 5),
    span(6, 9.5),
  ]);
  expect(uncovered(span(2, 3), [span(0, 5)])).toEqual([]);
});

test("words in a gap are hallucinated when they lie away from the speech on both sides", () => {
  const words = [word(" end", 9.5, 10.3), word(" Thank", 12, 12.4), word(" you.", 12.4, 13), word(" Next", 19.7, 20.4)];
  const segments = [{ ...span(9, 21), speaker: "A", text: "", words }];
  const found = hallucinatedInGaps("made", [span(10, 20), span(30, 30.3)], {
    outcome: "completed",
    language: "en",
    segments,
  });
  expect(found).toMatchObject({ words: ["thank", "you"] });
  expect(found.seconds).toBeCloseTo(9.6, 9);
  expect(hallucinatedPerHour([found, { name: "quiet", seconds: 14.4, words: [] }])).toBeCloseTo(300, 9);
});
