import { expect, test } from "bun:test";
import { sentenceMark } from "../../src/text/index.ts";

test.each([
  [" home.", "."],
  [" Really?!", "?!"],
  [" “Go home.”", "."],
  [" (It was.)", "."],
  ["です。」", "。"],
  ["吗？", "？"],
  [" है।", "।"],
  [" ہے۔", "۔"],
  [" كذلك؟", "؟"],
  ["សួស្តី។", "។"],
  ["བདེ་ལེགས།", "།"],
])("%p ends as a sentence does, with %p", (text, mark) => {
  expect(sentenceMark(text)).toBe(mark);
});

test.each(["བདེ་", " home", " home,", " 3.5", " “home”", ""])("%p does not end as a sentence does", (text) => {
  expect(sentenceMark(text)).toBeUndefined();
});
