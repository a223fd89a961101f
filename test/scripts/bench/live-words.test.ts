import { describe, expect, test } from "bun:test";
import { growthOf, judge } from "../../../tools/bench/live/judge.ts";
import { type Piece, spokenWords, textsOfPieces } from "../../../tools/bench/live/spoken-words.ts";

const piece = (kind: string, startSeconds: number, endSeconds: number, text: string | null): Piece => ({
  ...{ kind, startSeconds, endSeconds, text },
});
const word = (text: string, startSeconds: number, endSeconds: number) => ({ text, startSeconds, endSeconds });
const spoken = (text: string, earliestSeconds: number, endSeconds: number | null) => ({
  ...{ text, piece: 0, earliestSeconds, endSeconds },
});
const rounded = (delays: readonly { readonly seconds: number }[]) =>
  delays.map(({ seconds }) => Math.round(100 * seconds) / 100);

describe("the words of a track", () => {
  test("have the times of equal words in the transcript, and none if the transcript lacks them", () => {
    const transcript = [word(" Good", 1, 1.4), word(" mourning,", 1.5, 2), word(" Sir.", 2.1, 2.4)];
    expect(spokenWords([piece("reading", 0, 4, "good morning sir")], transcript)).toEqual([
      spoken("good", 1, 1.4),
      spoken("morning", 1.4, null),
      spoken("sir", 2.1, 2.4),
    ]);
  });

  test("are those of the transcript in a piece whose text is unknown, and nobody's in silence", () => {
    const pieces = [piece("silence", 0, 5, ""), piece("meeting", 5, 9, null)];
    const transcript = [word("Thanks.", 2, 3), word("Right,", 6, 6.5), word("twenty-five", 7, 8)];
    expect(spokenWords(pieces, transcript).map(({ text, piece }) => [text, piece])).toEqual([
      ["right", 1],
      ["twenty", 1],
      ["five", 1],
    ]);
  });

  test("divide another transcript into the texts of the pieces, with its case and punctuation", () => {
    const pieces = [piece("reading", 0, 4, "good morning sir"), piece("dialogue", 4, 8, "how are you today")];
    const words = spokenWords(pieces, []);
    expect(textsOfPieces(pieces, words, "Good mourning, Sir! Well, how are you - to-day?")).toEqual([
      "Good mourning, Sir! Well,",
      "how are you to-day?",
    ]);
    expect(textsOfPieces(pieces, words, "")).toEqual(["", ""]);
  });
});

describe("the figures of a session", () => {
  const words = [spoken("we", 1, 1.2), spoken("all", 1.2, 1.5), spoken("go", 1.5, null), spoken("home", 2, 2.5)];

  test("are the delays from the end of a word to its first display, and until it was final", () => {
    const displays = [
      { at: 2, final: "", partial: "We, all" },
      { at: 3, final: "We all", partial: "go home." },
      { at: 3.5, final: "We all go home", partial: "" },
    ];
    const { shown, final, withdrawn, changedFinal, words: count } = judge(displays, words, []);
    expect(rounded(shown)).toEqual([0.8, 0.5, 0.5]);
    expect(rounded(final)).toEqual([1.8, 1.5, 1]);
    expect([withdrawn, changedFinal, count]).toEqual([0, 0, 4]);
  });

  test("count words that vanish or change, and final words that change nevertheless", () => {
    const displays = [
      { at: 2, final: "", partial: "wee all" },
      { at: 3, final: "we all", partial: "gnome is" },
      { at: 4, final: "we hall go home", partial: "" },
    ];
    const { withdrawn, changedFinal } = judge(displays, words, []);
    expect(withdrawn).toBe(4);
    expect(changedFinal).toBe(1);
  });

  test("do not count a word as shown before it was spoken", () => {
    const twice = [spoken("yes", 1, 1.3), spoken("yes", 8, 8.3)];
    const displays = [
      { at: 2, final: "", partial: "yes yes" },
      { at: 9, final: "yes yes", partial: "" },
    ];
    expect(rounded(judge(displays, twice, []).shown)).toEqual([0.7, 0.7]);
  });

  test("count words in silence that nobody said, but not late ones of the speech before it", () => {
    const pieces = [piece("reading", 0, 3, "we all go home"), piece("silence", 3, 23, "")];
    const displays = [
      { at: 4, final: "we all go", partial: "hum" },
      { at: 10, final: "we all go home", partial: "" },
      { at: 12, final: "we all go home", partial: "thank you" },
      { at: 14, final: "we all go home", partial: "" },
      { at: 24, final: "we all go home", partial: "so" },
    ];
    expect(judge(displays, words, pieces)).toMatchObject({ inSilence: 2, withdrawn: 3 });
  });

  test("are empty when nothing is shown", () => {
    expect(judge([], words, [])).toEqual({
      ...{ shown: [], final: [], words: 0, withdrawn: 0, changedFinal: 0, inSilence: 0 },
    });
  });
});

test("the growth of delays is the difference of the medians of the last and the first third", () => {
  const delays = [1, 9, 1, 2, 2, 2, 4, 5, 4].map((seconds, index) => ({ endSeconds: index, seconds }));
  expect(growthOf(delays.toReversed())).toBe(3);
});
