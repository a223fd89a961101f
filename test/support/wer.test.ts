import { expect, test } from "bun:test";
import { characterErrors, errorRate, wordErrors } from "../../harness/wer.ts";
import { englishWordErrors } from "./english-words.ts";

test.each([
  ["case and punctuation", "hello world", "Hello, world!"],
  ["titles", "mister hale and doctor who", "Mr. Hale and Dr. Who"],
  ["contractions", "i do not know that we are", "I don’t know that we're"],
  ["numbers in words", "twenty one dogs and three hundred and five thousand and two cats", "21 dogs and 305,002 cats"],
  ["British and American spelling", "the centre of colour was realised", "The center of color was realized."],
  ["fillers", "well I think so", "Well, um, I, uh, think so"],
])("the word error rate ignores %s", (_, reference, hypothesis) => {
  expect(errorRate([englishWordErrors(reference, hypothesis)])).toBe(0);
});

test("substitutions, deletions and insertions are counted separately", () => {
  expect(englishWordErrors("one of the many big words", "one of many big strange wards")).toEqual({
    substitutions: 1,
    deletions: 1,
    insertions: 1,
    length: 6,
  });
  expect(wordErrors("ein Wort", "")).toMatchObject({ deletions: 2, length: 2 });
  expect(characterErrors("桥下垂直。", "桥上垂直")).toMatchObject({ substitutions: 1, length: 4 });
});
