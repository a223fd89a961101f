import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { FaceChoice } from "../../../src/exports/pdf/face-choice.ts";
import * as fontFiles from "../../../src/exports/pdf/font-files.ts";
import { Shaper } from "../../../src/exports/pdf/shaper.ts";
import { harfbuzzPaths } from "../../../src/exports/pdf/subset.ts";
import { hostileTexts, samples } from "../../support/transcripts.ts";

test("every font and WebAssembly module of an export exists", () => {
  const missing = [...Object.values(fontFiles), ...Object.values(harfbuzzPaths)].filter((path) => !existsSync(path));
  expect(missing).toEqual([]);
});

test.each(Object.entries(samples))("%s: every character has a glyph", (language, texts) => {
  const shaper = new Shaper(new FaceChoice(language, texts.join("")), language);
  const faces = new Set(texts.flatMap((text) => shaper.shape(text, "ltr", "regular")).map(({ face }) => face));
  // The first code of a face is reserved for the missing glyph.
  const missing = [...faces].flatMap((face) => face.used.slice(1).filter((glyph) => glyph.glyphId === 0));
  expect(missing).toEqual([]);
});

const choices: [string, string | null, string, string[]][] = [
  ["Japanese text uses the Japanese face", "ja", "骨を直す", ["japanese"]],
  ["Korean text uses the Korean face", "ko", "骨 좋아요", ["korean"]],
  ["simplified Chinese uses the simplified face", "zh", "我们说这个问题", ["simplifiedChinese"]],
  ["traditional Chinese uses the traditional face", "zh", "我們說這個問題", ["traditionalChinese"]],
  ["Cantonese uses the traditional face", "yue", "骨直", ["traditionalChinese"]],
  ["punctuation uses the face of its neighbours", "zh", "“你好”，", ["simplifiedChinese"]],
  ["digits and brackets alone use the Latin face", "ar", "(2026)", ["latin"]],
  ["the characters decide for an unknown language", null, "はい直", ["japanese"]],
  ["combining marks use the face of their letter", "hi", "कि", ["devanagari"]],
  ["emoji have a face", "en", "😀", ["emoji"]],
  ["musical symbols have a face", "en", "♪", ["symbols"]],
  [
    "keycaps are emoji, within words of any face",
    "ja",
    "a1\ufe0f\u20e3字#\u20e3",
    ["latin", "emoji", "japanese", "emoji"],
  ],
  ["letters with a mark around them use a face that has both", "en", "aB\u20dd", ["latin", "symbols"]],
];
test.each(choices)("%s", (_name, language, text, expected) => {
  const runs = new FaceChoice(language, text).split(text, "regular");
  expect(runs.map((run) => run.text).join("")).toBe(text);
  expect(runs.map((run): string => run.face.name)).toEqual(expected);
});

test.each(["x\u20dd", "M\u20e3", "z\u20df", "\u0434\u0488", "字\u20dd", "1\ufe0f\u20e3"])(
  "a mark around %p covers no neighbour",
  (text) => {
    const [run, ...others] = new Shaper(new FaceChoice("ja", ""), "ja").shape(text, "ltr", "regular");
    expect(others).toEqual([]);
    const inkOf = ({ glyphId }: { glyphId: number }) =>
      (run?.face.font.glyphExtents(glyphId)?.width ?? 0) * (run?.face.scale ?? 0);
    const ink = Math.max(...(run?.face.used.slice(1).map(inkOf) ?? []));
    expect(ink).toBeGreaterThan(500);
    expect(run?.width).toBeGreaterThanOrEqual(ink);
  },
);

test("characters without a glyph in any face are drawn as a box", () => {
  const faces = new FaceChoice(null, "");
  const runs = Object.values(hostileTexts).flatMap((text) => faces.split(text.toWellFormed(), "bold"));
  expect(runs.length).toBeGreaterThan(20);
});
