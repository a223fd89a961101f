import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { FaceChoice } from "../../../src/exports/pdf/face-choice.ts";
import * as fontFiles from "../../../src/exports/pdf/font-files.ts";
import { Shaper } from "../../../src/exports/pdf/shaper.ts";
import { harfbuzzPaths } from "../../../src/exports/pdf/subset.ts";
import { hostileTexts, samples } from "../transcripts.ts";

test("every font and WebAssembly module of an export exists", () => {
  const missing = [...Object.values(fontFiles), ...Object.values(harfbuzzPaths)].filter((path) => !existsSync(path));
  expect(missing).toEqual([]);
});

test.each(Object.entries(samples))("%s: every character has a glyph", (language, texts) => {
  const faces = new FaceChoice(language, texts.join(""));
  const shaper = new Shaper(faces, language);
  for (const text of texts) shaper.shape(text, "ltr", "regular");
  // The first code of a face is reserved for what it lacks.
  const missing = faces.faces.flatMap((face) => face.used.slice(1).filter((glyph) => glyph.glyphId === 0));
  expect(missing).toEqual([]);
});

const choices: [string, string | null, string, string[]][] = [
  ["Japanese characters look Japanese", "ja", "骨を直す", ["japanese"]],
  ["Korean ones Korean", "ko", "骨 좋아요", ["korean"]],
  ["simplified Chinese simplified", "zh", "我们说这个问题", ["simplifiedChinese"]],
  ["traditional Chinese traditional", "zh", "我們說這個問題", ["traditionalChinese"]],
  ["Cantonese traditional", "yue", "骨直", ["traditionalChinese"]],
  ["punctuation follows its neighbours", "zh", "“你好”，", ["simplifiedChinese"]],
  ["digits and brackets alone are Latin", "ar", "(2026)", ["latin"]],
  ["an unknown language goes by its characters", null, "はい直", ["japanese"]],
  ["marks stay with their letter", "hi", "कि", ["devanagari"]],
  ["pictures have a face too", "en", "😀", ["emoji"]],
  ["music has one", "en", "♪", ["symbols"]],
];
test.each(choices)("%s", (_name, language, text, expected) => {
  const runs = new FaceChoice(language, text).split(text, "regular");
  expect(runs.map((run) => run.text).join("")).toBe(text);
  expect(runs.map((run): string => run.face.name)).toEqual(expected);
});

test("whatever has no glyph anywhere is drawn as a box", () => {
  const faces = new FaceChoice(null, "");
  const runs = Object.values(hostileTexts).flatMap((text) => faces.split(text.toWellFormed(), "bold"));
  expect(runs.length).toBeGreaterThan(20);
});
