import { describe, expect, test } from "bun:test";
import { fitWords } from "../../src/pipeline/fit-to-turns.ts";

const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });
const turn = (startSeconds: number, endSeconds: number, speaker = 0) => ({ startSeconds, endSeconds, speaker });

/** Returns the places of words after the move, to a hundredth of a second. */
function kept(words: readonly [number, number][], turns: readonly ReturnType<typeof turn>[]): [number, number][] {
  const round = (seconds: number) => Math.round(seconds * 100) / 100;
  return fitWords(
    words.map(([start, end]) => span(start, end)),
    turns,
  ).map(({ startSeconds, endSeconds }) => [round(startSeconds), round(endSeconds)]);
}

describe("words", () => {
  const turns = [turn(2, 4), turn(3.5, 5, 1), turn(10, 12)];
  const cases: [string, [number, number][], [number, number][]][] = [
    [
      "within turns are unchanged",
      [
        [2, 2.3],
        [2.3, 4.6],
        [10.5, 12],
      ],
      [
        [2, 2.3],
        [2.3, 4.6],
        [10.5, 12],
      ],
    ],
    [
      "that extend slightly beyond turns are unchanged",
      [
        [1.8, 2.3],
        [4.9, 5.2],
      ],
      [
        [1.8, 2.3],
        [4.9, 5.2],
      ],
    ],
    [
      "that extend far beyond turns are cut",
      [
        [0.5, 2.4],
        [4.8, 8],
      ],
      [
        [1.6, 2.4],
        [4.8, 5.4],
      ],
    ],
    ["that reach from one turn to the next stay in the turn that contains more of them", [[4.9, 10.9]], [[9.6, 10.9]]],
    [
      "next to a turn move to its edge",
      [
        [5.4, 5.8],
        [9, 9.5],
        [10, 10.4],
      ],
      [
        [5.3, 5.4],
        [9.6, 9.7],
        [10, 10.4],
      ],
    ],
    [
      "next to a turn stay in order",
      [
        [5.3, 5.5],
        [5.5, 5.9],
      ],
      [
        [5.3, 5.4],
        [5.4, 5.5],
      ],
    ],
    [
      "far from all turns are unchanged",
      [
        [7, 7.5],
        [30, 30.5],
      ],
      [
        [7, 7.5],
        [30, 30.5],
      ],
    ],
    [
      "of a sentence outside all turns are unchanged",
      [
        [5.5, 5.7],
        [5.7, 5.9],
        [5.9, 6.2],
        [8, 8.5],
      ],
      [
        [5.5, 5.7],
        [5.7, 5.9],
        [5.9, 6.2],
        [8, 8.5],
      ],
    ],
    ["shorter than the minimum length stay as short", [[9.4, 9.45]], [[9.6, 9.65]]],
  ];
  test.each(cases)("%s", (_, words, places) => {
    expect(kept(words, turns)).toEqual(places);
  });

  test("stay in place without turns", () => {
    expect(kept([[1, 2]], [])).toEqual([[1, 2]]);
  });

  test("may be an empty list", () => {
    expect(kept([], turns)).toEqual([]);
  });

  test("keep their other properties", () => {
    expect(fitWords([{ ...span(0, 3), text: " so", probability: 0.4 }], turns)).toEqual([
      { startSeconds: 1.6, endSeconds: 3, text: " so", probability: 0.4 },
    ]);
  });

  test("stay in order, without overlaps and not longer than before, for any turns", () => {
    for (let shift = 0; shift < 3; shift += 0.07) {
      const words = Array.from({ length: 40 }, (_, index) => span(index * 0.4, index * 0.4 + 0.3));
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
