import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import type { StoredWord } from "../../src/segments/index.ts";
import { joined, placeWords, retimeWords, splitAt, type TimedText } from "../../src/transcripts/word-times.ts";

/** Returns a segment from 1 s on whose words take 100 ms each, with 100 ms between them. */
function spoken(...texts: string[]): TimedText {
  const words = texts.map((text, place): StoredWord => [text, 1000 + place * 200, 1100 + place * 200, 0.5]);
  return {
    startMilliseconds: 1000,
    endMilliseconds: 900 + texts.length * 200,
    text: texts.join("").trim(),
    words,
  };
}

const shown = (words: readonly StoredWord[]) => words.map(([text, start, end, sure]) => [text, start, end, sure]);
const together = (words: readonly StoredWord[]) =>
  words
    .map(([text]) => text)
    .join("")
    .trim();

describe("the words of a corrected text", () => {
  const segment = spoken(" We", " met", " Mr.", " Meier", " today.");

  test.each<[string, string, (string | number)[][]]>([
    ["keep their times where a word is replaced", "We met Mr. Mayer today.", [[" Mayer", 1600, 1700, 1]]],
    ["keep their times where only punctuation changes", "We met Mr. Meier, today!", []],
    ["take the time of the words that they replace", "We met Mr. Maier-Mayer of today.", []],
    ["get a time between their neighbours", "We have met Mr. Meier today.", [[" have", 1100, 1200, 1]]],
    ["may be fewer", "We met today.", []],
    ["begin with the segment", "Well, we met Mr. Meier today.", []],
    ["end with the segment", "We met Mr. Meier today, again.", []],
  ])("%s: %p", (_name, text, written) => {
    const words = retimeWords(segment, text);
    expect(together(words)).toBe(text);
    for (const word of written) expect(shown(words)).toContainEqual(word);
    for (const [word, start, end, sure] of segment.words) {
      const kept = words.find((each) => each[0].replace(/[.,!]/g, "") === word.replace(/[.,!]/g, ""));
      if (kept !== undefined) expect(kept.slice(1)).toEqual([start, end, sure]);
    }
  });

  test("share a time by their lengths", () => {
    expect(shown(retimeWords(spoken(" one", " two", " three"), "one aaa bbbbbb three"))).toEqual([
      [" one", 1000, 1100, 0.5],
      [" aaa", 1200, 1233, 1],
      [" bbbbbb", 1233, 1300, 1],
      [" three", 1400, 1500, 0.5],
    ]);
  });

  test("are found in scripts without spaces", () => {
    const words = retimeWords(spoken("今天", "我们", "开会", "。"), "今天你们开会。");
    expect([together(words), words[0], words.at(-1)?.slice(0, 3)]).toEqual([
      "今天你们开会。",
      ["今天", 1000, 1100, 0.5],
      ["。", 1600, 1700],
    ]);
  });

  test("keep the mark of probabilities that are not comparable", () => {
    const foreign: TimedText = { ...spoken(" Ja,", " gut."), words: [[" Ja,", 1000, 1100, 0.4, false]] };
    expect(retimeWords(foreign, "Ja, schön.")[0]).toEqual([" Ja,", 1000, 1100, 0.4, false]);
  });

  test("exist if the segment had none", () => {
    const silent: TimedText = { startMilliseconds: 0, endMilliseconds: 400, text: "Ab", words: [] };
    expect(retimeWords(silent, "ab cd")).toEqual([
      [" ab", 0, 200, 1],
      [" cd", 200, 400, 1],
    ]);
    expect(retimeWords(silent, "…")).toEqual([[" …", 0, 400, 1]]);
  });

  test("are compared in a moment if a long text is written anew", () => {
    const long = spoken(...Array.from({ length: 2500 }, (_, place) => ` word${place}`));
    const text = Array.from({ length: 2500 }, (_, place) => `other${place}`).join(" ");
    expect(together(retimeWords(long, text))).toBe(text);
  });

  test("are the text and are in order after any edit", () => {
    const random = randomNumbers(7);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    const pieces = [
      "we",
      "met",
      "Müller",
      "(quietly)",
      "–",
      "don't",
      "今天",
      "会",
      "1984.",
      "yes,",
      "«no»",
      "ไทย",
      "…",
    ];
    for (let round = 0; round < 400; round++) {
      const some = () => Array.from({ length: 1 + Math.floor(random() * 9) }, () => pick(pieces));
      const before = spoken(...some().map((piece) => ` ${piece}`));
      const words = before.text.split(" ");
      words.splice(Math.floor(random() * words.length), Math.floor(random() * 3), ...some().slice(0, 2));
      const text = words.join(" ").trim() || "x";
      const after = retimeWords(before, text);
      expect(together(after)).toBe(text);
      let reached = before.startMilliseconds;
      for (const [, start, end] of after) {
        expect([start >= reached, end >= start, end <= before.endMilliseconds]).toEqual([true, true, true]);
        reached = start;
      }
    }
  });
});

describe("a split", () => {
  const segment = spoken(" We", " met", " yesterday.");

  test("divides texts, words and times", () => {
    expect(splitAt(segment, 3)).toEqual([
      { startMilliseconds: 1000, endMilliseconds: 1100, text: "We", words: segment.words.slice(0, 1) },
      { startMilliseconds: 1200, endMilliseconds: 1500, text: "met yesterday.", words: segment.words.slice(1) },
    ]);
  });

  test("divides a word at the cursor", () => {
    const [left, right] = splitAt(segment, 12) ?? [];
    expect([left?.text, right?.text]).toEqual(["We met yeste", "rday."]);
    expect(left?.words.at(-1)).toEqual([" yeste", 1400, 1450, 0.5]);
    expect(right?.words).toEqual([["rday.", 1450, 1500, 0.5]]);
  });

  test("leaves letters whole that are several characters", () => {
    const segment = spoken(" Ja", " 👩‍👩‍👧.");
    expect(splitAt(segment, 5)?.map(({ text }) => text)).toEqual(["Ja", "👩‍👩‍👧."]);
    expect(splitAt({ ...segment, text: "Ja \u200b" }, 3)).toBeNull();
  });

  test.each([0, 99, 17])("at %d leaves a part without a text", (character) => {
    expect(splitAt(segment, character)).toBeNull();
  });

  test("of segments that were joined while both parties spoke gives each party its times again", () => {
    const mine = spoken(" And", " so,", " my", " friends.");
    const yours = { ...spoken(" Ask", " not."), startMilliseconds: 1010 };
    const words = yours.words.map(([text, start, end, sure]): StoredWord => [text, start + 20, end + 20, sure]);
    const both = joined(mine, { ...yours, endMilliseconds: 1320, words });
    expect(splitAt(both, mine.text.length)).toEqual([
      mine,
      { ...yours, startMilliseconds: 1020, endMilliseconds: 1320, words },
    ]);
  });

  test("and its merge give the same words", () => {
    for (let character = 1; character < segment.text.length; character++) {
      const halves = splitAt(segment, character);
      if (halves === null || !segment.text.slice(0, character + 1).endsWith(" ")) continue;
      expect(joined(...halves)).toEqual(segment);
    }
    expect(placeWords(segment.text, segment.words)).toHaveLength(3);
  });
});
