import { expect, test } from "bun:test";
import type { NativePiece } from "../../../../src/speech/recognizer/whisper/addon.ts";
import { groupWords } from "../../../../src/speech/recognizer/whisper/words.ts";

const piece = (text: string): NativePiece => ({
  text,
  probability: 1,
  alignedEnd: -1,
  isGiven: false,
});

test.each([
  ["begins a word at each space", "en", [" And", " so", ",", " my", " fell", "ow"], [" And", " so,", " my", " fellow"]],
  ["keeps contractions and hyphens together", "en", [" don", "'t", " well", "-", "known"], [" don't", " well-known"]],
  ["keeps an opening quote with its word", "en", [' "', "Hello", '."'], [' "Hello."']],
  ["gives a dash that stands alone to the word before", "en", [" Yes", " -", " no"], [" Yes -", " no"]],
  ["gives leading punctuation to the first word", "en", [" -", " no"], [" - no"]],
  ["keeps a segment of nothing but punctuation", "en", ["..."], ["..."]],
  ["makes Korean words at spaces", "ko", [" 그는", " 이", "리저리"], [" 그는", " 이리저리"]],
  ["makes units of Chinese without spaces", "zh", ["桥", "下", "垂直", "。"], ["桥", "下", "垂直。"]],
  [
    "keeps foreign words and numbers whole among them",
    "ja",
    ["20", "11", "年", "Wh", "isper", "は"],
    ["2011", "年", "Whisper", "は"],
  ],
  ["keeps a Thai vowel sign with its consonant", "th", ["ก", "ำ", "ลัง"], ["กำ", "ลัง"]],
  ["gives nothing for nothing", "en", [], []],
])("%s", (_, language, pieces, words) => {
  const grouped = groupWords(pieces.map(piece), language);
  expect(grouped.map((word) => word.text)).toEqual(words);
  expect(grouped.flatMap((word) => word.pieces.map((part) => part.text))).toEqual(pieces);
});
