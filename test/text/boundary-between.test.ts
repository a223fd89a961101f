import { expect, test } from "bun:test";
import { type Boundary, boundaryBetween, sentenceMark } from "../../src/text/index.ts";

test.each<[string, string, Boundary]>([
  ["end.", "Next", "sentence"],
  ["end?", "", "sentence"],
  ["end", "", "open"],
  ["end.”", "Next", "sentence"],
  ["end.", "“Next", "sentence"],
  ["終わり。", "次", "sentence"],
  ["تمام؟", "نعم", "sentence"],
  ["था।", "वह", "sentence"],
  ["wait…", "Then", "sentence"],
  ["me.", "I", "sentence"],
  ["No!", "Really", "sentence"],
  ["1990.", "Then", "sentence"],
  // A small letter continues the sentence.
  ["wait...", "what", "clause"],
  ["”What?”", "he", "clause"],
  ["comma,", "Next", "clause"],
  ["だから、", "次", "clause"],
  ["comma", "Next", "open"],
  ["3.5", "Percent", "open"],
  // A name, a number or an abbreviation and what belongs to it.
  ["Mr.", "Hale", "bound"],
  ["Dr.", "Müller", "bound"],
  ["e.g.", "this", "bound"],
  ["z.B.", "in", "bound"],
  ["J.", "Kennedy", "bound"],
  ["No.", "5", "bound"],
  ["10", "000", "bound"],
  ["3,", "5", "bound"],
  // These may also end a sentence; the pause decides.
  ["3.", "Mai", "perhaps"],
  ["U.S.", "Army", "perhaps"],
  ["p.m.", "Then", "perhaps"],
  ["No.", "That", "perhaps"],
  ["I.", "Okay", "perhaps"],
  ["etc.", "Then", "perhaps"],
])("the boundary between %p and %p is %p", (word, next, boundary) => {
  expect(boundaryBetween(` ${word}`, ` ${next}`)).toBe(boundary);
});

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
])("the sentence mark of %p is %p", (text, mark) => {
  expect(sentenceMark(text)).toBe(mark);
});

test.each(["བདེ་", " home", " home,", " 3.5", " “home”", ""])("%p has no sentence mark", (text) => {
  expect(sentenceMark(text)).toBeUndefined();
});
