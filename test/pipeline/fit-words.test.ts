import { describe, expect, test } from "bun:test";
import { fitWords } from "../../src/pipeline/fit-to-turns.ts";
import type { Span, Turn } from "../../src/timeline/index.ts";
import { rounded, spans, turn } from "../support/spans.ts";

/** Returns the places of words after the move, to a hundredth of a second. */
const kept = (words: readonly Span[], turns: readonly Turn[]) => rounded(fitWords(words, turns), 2);

describe("words", () => {
  const turns = [turn(2, 4), turn(3.5, 5, 1), turn(10, 12)];
  const cases: [string, Span[], Span[]][] = [
    ["within turns are unchanged", spans([2, 2.3], [2.3, 4.6], [10.5, 12]), spans([2, 2.3], [2.3, 4.6], [10.5, 12])],
    ["that extend slightly beyond turns are unchanged", spans([1.8, 2.3], [4.9, 5.2]), spans([1.8, 2.3], [4.9, 5.2])],
    ["that extend far beyond turns are cut", spans([0.5, 2.4], [4.8, 8]), spans([1.6, 2.4], [4.8, 5.4])],
    [
      "that reach from one turn to the next stay in the turn that contains more of them",
      spans([4.9, 10.9]),
      spans([9.6, 10.9]),
    ],
    [
      "next to a turn move to its edge",
      spans([5.4, 5.8], [9, 9.5], [10, 10.4]),
      spans([5.3, 5.4], [9.6, 9.7], [10, 10.4]),
    ],
    ["next to a turn stay in order", spans([5.3, 5.5], [5.5, 5.9]), spans([5.3, 5.4], [5.4, 5.5])],
    ["far from all turns are unchanged", spans([7, 7.5], [30, 30.5]), spans([7, 7.5], [30, 30.5])],
    [
      "of a sentence outside all turns are unchanged",
      spans([5.5, 5.7], [5.7, 5.9], [5.9, 6.2], [8, 8.5]),
      spans([5.5, 5.7], [5.7, 5.9], [5.9, 6.2], [8, 8.5]),
    ],
    ["shorter than the minimum length stay as short", spans([9.4, 9.45]), spans([9.6, 9.65])],
  ];
  test.each(cases)("%s", (_, words, places) => {
    expect(kept(words, turns)).toEqual(places);
  });

  test("stay in place without turns", () => {
    expect(kept(spans([1, 2]), [])).toEqual(spans([1, 2]));
  });

  test("may be an empty list", () => {
    expect(kept([], turns)).toEqual([]);
  });

  test("keep their other properties", () => {
    expect(fitWords([{ startSeconds: 0, endSeconds: 3, text: " so", probability: 0.4 }], turns)).toEqual([
      { startSeconds: 1.6, endSeconds: 3, text: " so", probability: 0.4 },
    ]);
  });

  test("stay in order, without overlaps and not longer than before, for any turns", () => {
    for (let shift = 0; shift < 3; shift += 0.07) {
      const words = spans(...Array.from({ length: 40 }, (_, index) => [index * 0.4, index * 0.4 + 0.3] as const));
      const moved = fitWords(words, [
        turn(shift, shift + 1.1),
        turn(shift + 3, shift + 3.2),
        turn(shift + 8, shift + 9),
      ]);
      for (const [index, word] of moved.entries()) {
        expect(word.startSeconds).toBeGreaterThanOrEqual(moved[index - 1]?.endSeconds ?? 0);
        expect(word.endSeconds).toBeGreaterThan(word.startSeconds);
        expect(word.endSeconds - word.startSeconds).toBeLessThan(0.3 + 1e-9);
      }
    }
  });
});
