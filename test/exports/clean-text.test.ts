import { expect, test } from "bun:test";
import { cleanText } from "../../src/exports/clean-text.ts";
import { hostileTexts, samples } from "./transcripts.ts";

test("ordinary text is unchanged, in every script", () => {
  for (const text of Object.values(samples).flat()) expect(cleanText(text)).toBe(text);
});

const cases: [string, string, string][] = [
  ["line ends and controls become spaces", "a\r\nb\u0000c\u0085d\u2028e", "a b c d e"],
  ["blanks are collapsed and trimmed", "  a \t b  ", "a b"],
  ["direction overrides and isolates are removed", "\u202eabc\u202c \u2067d\u2069", "abc d"],
  ["direction marks and joiners are kept", "a\u200f \u0645\u06cc\u200c\u062e", "a\u200f \u0645\u06cc\u200c\u062e"],
  ["lone surrogates become replacement characters", "\ud83d x \ude00", "\ufffd x \ufffd"],
  ["noncharacters become replacement characters", "\uffff\ufdd0", "\ufffd\ufffd"],
  ["no-break spaces are kept", "10\u00a0000\u202f€", "10\u00a0000\u202f€"],
  ["excessive combining marks are cut", `a${"\u0301".repeat(100)}`, `a${"\u0301".repeat(30)}`],
];
test.each(cases)("%s", (_name, text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

test("hostile texts contain no control, override or lone surrogate afterwards", () => {
  for (const text of Object.values(hostileTexts)) {
    const clean = cleanText(text);
    expect(clean).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
    expect(cleanText(clean)).toBe(clean);
  }
});
