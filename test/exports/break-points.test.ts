import { expect, test } from "bun:test";
import { breakableFragments } from "../../src/exports/break-points.ts";
import { samples } from "../support/transcripts.ts";

const cases: [string, string, string[]][] = [
  ["after spaces and hyphens", "a well-known fact", ["a ", "well-", "known ", "fact"]],
  ["not before punctuation", "Ja , wirklich ?", ["Ja , ", "wirklich ?"]],
  ["not at a no-break space", "10\u00a0kg Äpfel", ["10\u00a0kg ", "Äpfel"]],
  ["between Chinese characters, but not before a comma", "很好，我们", ["很", "好，", "我", "们"]],
  ["between Thai words", "วันนี้อากาศดี", ["วัน", "นี้", "อากาศ", "ดี"]],
  ["between Khmer words", "ខ្ញុំស្រឡាញ់ប្រទេស", ["ខ្ញុំ", "ស្រឡាញ់", "ប្រទេស"]],
];
test.each(cases)("a line may break %s", (_name, text, fragments) => {
  expect(breakableFragments(text)).toEqual(fragments);
});

test("the fragments joined are the text, in every script", () => {
  for (const text of Object.values(samples).flat()) expect(breakableFragments(text).join("")).toBe(text);
});
