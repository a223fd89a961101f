import { describe, expect, test } from "bun:test";
import { repeatedCount } from "../../../src/live/session/repeated-words.ts";
import { WordAgreement } from "../../../src/live/session/word-agreement.ts";
import type { EngineWord } from "../../../src/timeline/index.ts";

/** Returns words of 0.3 s, one each 0.4 s, or at the given times. */
function words(text: string, fromSeconds = 0, starts: readonly number[] = []): EngineWord[] {
  return text.split(" ").map((word, index) => {
    const startSeconds = starts[index] ?? fromSeconds + index * 0.4;
    return { text: ` ${word}`, startSeconds, endSeconds: startSeconds + 0.3, probability: 0.9 };
  });
}

const textOf = (list: readonly EngineWord[]) => list.map(({ text }) => text.trim()).join(" ");

describe("of the words of a pass", () => {
  const final = words("ask not what your");

  test.each<[string, EngineWord[], number]>([
    ["none repeats a final word if there is none", words("ask not"), 0],
    ["those with the same texts and times are repeated", words("ask not what your country"), 4],
    ["a word whose end has moved is not taken for a new one", words("ask not what your country", 0.25), 4],
    ["a word that was heard otherwise is not taken for a new one", words("ask not what you're country"), 4],
    ["a word that is said twice is new", words("ask not what your your country"), 4],
    [
      "a new word that begins a little early is not lost",
      words("ask not what your can", 0, [0, 0.4, 0.8, 1.2, 1.42]),
      4,
    ],
  ])("%s", (name, pass, count) => {
    const known = name.startsWith("none") ? [] : final;
    expect(repeatedCount(pass, known, known.at(-1)?.endSeconds ?? 0, 0)).toBe(count);
  });

  test("those before the first final word that lies in the sound are skipped", () => {
    const pass = words("what your country", 0.8);
    expect(repeatedCount(pass, final, 1.5, 0.75)).toBe(2);
  });

  test("a final word that the start of the sound cuts may be missing", () => {
    const pass = words("your country can", 1.2);
    expect(textOf(pass.slice(repeatedCount(pass, final, 1.5, 1.0)))).toBe("country can");
  });
});

describe("an agreement of passes", () => {
  test("makes words final on which two passes agree, and which lie far enough behind the end of the sound", () => {
    const agreement = new WordAgreement(0);
    const first = agreement.add(words("ask not"), { startSeconds: 0, endSeconds: 1.2 }, "agreed");
    expect([textOf(first.final), textOf(first.open)]).toEqual(["", "ask not"]);
    const second = agreement.add(words("Ask not, what your"), { startSeconds: 0, endSeconds: 1.8 }, "agreed");
    expect([textOf(second.final), textOf(second.open)]).toEqual(["Ask not,", "what your"]);
    const third = agreement.add(words("ask not what your country"), { startSeconds: 0, endSeconds: 2.1 }, "agreed");
    expect([textOf(third.final), textOf(third.open)]).toEqual(["what", "your country"]);
    const last = agreement.add(words("ask not what your country"), { startSeconds: 0, endSeconds: 2.2 }, "all");
    expect([textOf(last.final), textOf(last.open)]).toEqual(["your country", ""]);
  });

  test("makes no word final while its language is not sure, or where two passes differ", () => {
    const agreement = new WordAgreement(0);
    const span = { startSeconds: 0, endSeconds: 5 };
    expect(textOf(agreement.add(words("ask not"), span, "none").final)).toBe("");
    expect(textOf(agreement.add(words("ask not"), span, "none").final)).toBe("");
    expect(textOf(agreement.add(words("a knot what"), span, "agreed").final)).toBe("");
    expect(textOf(agreement.add(words("a not what"), span, "agreed").final)).toBe("a");
  });
});
