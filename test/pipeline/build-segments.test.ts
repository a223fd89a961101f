import { describe, expect, test } from "bun:test";
import { buildSegments } from "../../src/pipeline/build-segments.ts";
import { endsSentence } from "../../src/pipeline/sentences.ts";
import { spoken, wordsFrom } from "./words.ts";

const texts = (words: Parameters<typeof buildSegments>[0]) => buildSegments(words).map((segment) => segment.text);

describe("segments", () => {
  test("break where the speaker changes, and name speakers in order of appearance", () => {
    const segments = buildSegments([
      ...spoken(7, wordsFrom(0, "well hello")),
      ...spoken(2, wordsFrom(0.6, "oh hi")),
      ...spoken(7, wordsFrom(1.2, "so")),
    ]);
    expect(segments.map(({ index, speaker, text }) => [index, speaker, text])).toEqual([
      [0, 0, "well hello"],
      [1, 1, "oh hi"],
      [2, 0, "so"],
    ]);
  });

  test("break at a pause and at the end of a sentence", () => {
    const words = spoken(0, [...wordsFrom(0, "This is one sentence. This is"), ...wordsFrom(5, "after a pause")]);
    expect(texts(words)).toEqual(["This is one sentence.", "This is", "after a pause"]);
  });

  test("do not set a word or two apart for their full stop", () => {
    expect(texts(spoken(0, wordsFrom(0, "Yes. Yes. Okay. That is right. Good.")))).toEqual([
      "Yes. Yes. Okay. That is right.",
      "Good.",
    ]);
  });

  test("never break in a word, lose a word or repeat one", () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}${index % 7 === 6 ? "," : ""}`).join(" ");
    const segments = buildSegments(spoken(0, wordsFrom(0, text)));
    expect(segments.length).toBeGreaterThan(5);
    expect(segments.map((segment) => segment.text).join(" ")).toBe(text);
    for (const segment of segments) expect(segment.text.length).toBeLessThanOrEqual(300);
  });

  test("of languages without spaces have none", () => {
    const words = [..."今日は。元気"].map((text, index) => ({
      text,
      startSeconds: index,
      endSeconds: index + 0.9,
      probability: 1,
    }));
    expect(texts(spoken(0, words))).toEqual(["今日は。", "元気"]);
  });

  test("have starts that never decrease and ends after their starts, whatever the words' times are", () => {
    const word = (text: string, startSeconds: number, endSeconds: number) => ({
      text: ` ${text}`,
      startSeconds,
      endSeconds,
      probability: 1,
    });
    const segments = buildSegments([
      ...spoken(0, [word("a", 1, 1)]),
      ...spoken(1, [word("b", 0.5, 0.9)]),
      ...spoken(0, [word("c", 0.8, 2)]),
    ]);
    let before = 0;
    for (const segment of segments) {
      expect(segment.startSeconds).toBeGreaterThanOrEqual(before);
      expect(segment.endSeconds).toBeGreaterThan(segment.startSeconds);
      before = segment.startSeconds;
    }
  });

  test("hold no empty text", () => {
    const blank = { text: " ", startSeconds: 0, endSeconds: 1, probability: 1 };
    expect(buildSegments(spoken(0, [blank]))).toEqual([]);
    expect(texts([...spoken(1, [blank]), ...spoken(0, wordsFrom(1, "hello"))])).toEqual(["hello"]);
  });
});

test.each([
  ["end.", "Next", true],
  ["end?", undefined, true],
  ["end.”", "Next", true],
  ["終わり。", "次", true],
  ["Mr.", "Hale", false],
  ["e.g.", "This", false],
  ["J.", "Kennedy", false],
  ["wait...", "what", false],
  ["3.5", "Percent", false],
  ["comma,", "Next", false],
])("a sentence ends with %p before %p: %p", (word, next, ends) => {
  expect(endsSentence(` ${word}`, next === undefined ? undefined : ` ${next}`)).toBe(ends);
});
