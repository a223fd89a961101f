import { describe, expect, test } from "bun:test";
import { buildSegments } from "../../src/pipeline/build-segments.ts";
import { spoken, wordsFrom } from "./words.ts";

const texts = (words: Parameters<typeof buildSegments>[0]) => buildSegments(words).map((segment) => segment.text);

describe("segments", () => {
  test("end where the speaker changes", () => {
    const segments = buildSegments([
      ...spoken(7, wordsFrom(0, "well hello")),
      ...spoken(2, wordsFrom(0.6, "oh hi")),
      ...spoken(7, wordsFrom(1.2, "so")),
    ]);
    expect(segments.map(({ index, speaker, text }) => [index, speaker, text])).toEqual([
      [0, 7, "well hello"],
      [1, 2, "oh hi"],
      [2, 7, "so"],
    ]);
  });

  test("end at sentence ends and at long pauses", () => {
    const words = spoken(0, [
      ...wordsFrom(0, "This is one sentence of some length. This is another sentence that is never"),
      ...wordsFrom(9, "going to end"),
    ]);
    expect(texts(words)).toEqual([
      "This is one sentence of some length.",
      "This is another sentence that is never",
      "going to end",
    ]);
  });

  test("join very short sentences with a neighbour, but never across speakers or a long pause", () => {
    expect(texts(spoken(0, wordsFrom(0, "Yes. Yes. Okay. That is right. Good.")))).toEqual([
      "Yes. Yes. Okay. That is right. Good.",
    ]);
    expect(texts([...spoken(0, wordsFrom(0, "Yes. It is.")), ...spoken(1, wordsFrom(1, "Yes."))])).toEqual([
      "Yes. It is.",
      "Yes.",
    ]);
    expect(texts(spoken(0, [...wordsFrom(0, "Yes."), ...wordsFrom(3, "We went on a day late.")]))).toEqual([
      "Yes.",
      "We went on a day late.",
    ]);
    expect(
      texts(spoken(0, wordsFrom(0, "Yes. We went on, though a day late as it was. And the others stayed there."))),
    ).toEqual(["Yes. We went on, though a day late as it was.", "And the others stayed there."]);
  });

  test("continue over a short pause within a sentence", () => {
    const words = spoken(0, [...wordsFrom(0, "We met"), ...wordsFrom(1.6, "Mr. Smith and his wife in the garden.")]);
    expect(texts(words)).toEqual(["We met Mr. Smith and his wife in the garden."]);
  });

  test("end in the middle of a sentence only at a pause that would end a turn", () => {
    const told = (pause: number) =>
      texts(
        spoken(0, [...wordsFrom(0, "And then we went on to"), ...wordsFrom(1.8 + pause, "the garden of Mr. Smith.")]),
      );
    expect(told(0.8)).toEqual(["And then we went on to the garden of Mr. Smith."]);
    expect(told(1.4)).toEqual(["And then we went on to", "the garden of Mr. Smith."]);
  });

  test.each([
    ["at a comma", `${"so ".repeat(30)}far, ${"it ".repeat(30)}went.`, / far,$/],
    ["at the comma that leaves no short rest", `now, ${"so ".repeat(30)}far, ${"it ".repeat(28)}went, yes.`, / far,$/],
    ["not in a number", `${"so ".repeat(29)}of 10 000 ${"it ".repeat(30)}went.`, /^(?!.*10$)/],
  ])("of more than 15 s are split %s", (_, text, firstEnds) => {
    const segments = buildSegments(spoken(0, wordsFrom(0, text)));
    expect(segments.map((segment) => segment.text).join(" ")).toBe(text);
    expect(segments).toHaveLength(2);
    expect(segments[0]?.text).toMatch(firstEnds);
    for (const { startSeconds, endSeconds } of segments) expect(endSeconds - startSeconds).toBeLessThanOrEqual(15);
  });

  test("without punctuation are split at the longest pauses", () => {
    const words = spoken(0, [
      ...wordsFrom(0, "word ".repeat(30).trim()),
      ...wordsFrom(9.8, "then ".repeat(15).trim()),
      ...wordsFrom(14.4, "next ".repeat(30).trim()),
    ]);
    expect(buildSegments(words).map(({ startSeconds }) => startSeconds)).toEqual([0, 9.8]);
  });

  test("never split, lose or repeat a word", () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}${index % 7 === 6 ? "," : ""}`).join(" ");
    const segments = buildSegments(spoken(0, wordsFrom(0, text)));
    expect(segments.length).toBeGreaterThan(5);
    expect(segments.map((segment) => segment.text).join(" ")).toBe(text);
    for (const segment of segments) expect(segment.text.length).toBeLessThanOrEqual(300);
  });

  test("of languages without spaces contain none and never split a word", () => {
    const pieces = (text: string) =>
      spoken(
        0,
        [...text].map((piece, index) => ({
          text: piece,
          startSeconds: index * 0.5,
          endSeconds: index * 0.5 + 0.5,
          probability: 1,
        })),
      );
    expect(texts(pieces("今日は良い天気です。元気ですか？"))).toEqual(["今日は良い天気です。", "元気ですか？"]);
    const long = "東京都は日本の首都であり世界有数の大都市である大阪府は西日本の中心であり古くから商業が栄えた町である";
    const segments = texts(pieces(long));
    expect(segments.join("")).toBe(long);
    expect(segments.length).toBeGreaterThan(1);
    const starts = new Set(Array.from(new Intl.Segmenter("ja", { granularity: "word" }).segment(long), (s) => s.index));
    let offset = 0;
    for (const segment of segments) {
      expect(starts).toContain(offset);
      offset += segment.length;
    }
  });

  test("have starts that never decrease and ends after their starts, for any word times", () => {
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

  test("are never empty", () => {
    const blank = { text: " ", startSeconds: 0, endSeconds: 1, probability: 1 };
    expect(buildSegments(spoken(0, [blank]))).toEqual([]);
    expect(texts([...spoken(1, [blank]), ...spoken(0, wordsFrom(1, "hello"))])).toEqual(["hello"]);
  });
});

test("a full stop that may belong to an abbreviation ends a sentence only before a pause", () => {
  const told = (pause: number) => [
    ...wordsFrom(0, "They had been in the house since 3."),
    ...wordsFrom(2.4 + pause, "Mai was there and so were all the others."),
  ];
  expect(texts(spoken(0, told(0)))).toHaveLength(1);
  expect(texts(spoken(0, told(0.4)))).toHaveLength(2);
});
