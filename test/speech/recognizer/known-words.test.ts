import { describe, expect, test } from "bun:test";
import { repeatedCount } from "../../../src/speech/recognizer/known-words.ts";
import type { EngineWord } from "../../../src/timeline/index.ts";

/** Returns words of 0.3 s, one each 0.4 s, or at the given times. */
function words(text: string, fromSeconds = 0, starts: readonly number[] = []): EngineWord[] {
  return text.split(" ").map((word, index) => {
    const startSeconds = starts[index] ?? fromSeconds + index * 0.4;
    return { text: ` ${word}`, startSeconds, endSeconds: startSeconds + 0.3, probability: 0.9 };
  });
}

describe("of the words of a live pass", () => {
  const known = words("ask not what your");

  test.each<[string, EngineWord[], number]>([
    ["none repeats a known word if there is none", words("ask not"), 0],
    ["those with the same texts and times are repeated", words("ask not what your country"), 4],
    ["a word whose end has moved is not taken for a new one", words("ask not what your country", 0.25), 4],
    ["a word that was recognized otherwise is not taken for a new one", words("ask not what you're country"), 4],
    ["a word that is said twice is new", words("ask not what your your country"), 4],
    [
      "a new word that begins a little early is not lost",
      words("ask not what your can", 0, [0, 0.4, 0.8, 1.2, 1.42]),
      4,
    ],
  ])("%s", (name, pass, count) => {
    expect(repeatedCount(pass, name.startsWith("none") ? [] : known)).toBe(count);
  });

  test("those before the first known word that lies in the sound are skipped", () => {
    // The sound begins after the known "ask", of which its end is still recognized.
    expect(repeatedCount(words("k not what your country"), words("not what your", 0.4))).toBe(4);
  });

  test("a known word that the start of the sound cuts may be missing", () => {
    const cut = words("what your", -0.2);
    expect(repeatedCount(words("your country can", 0.2), cut)).toBe(1);
  });
});
