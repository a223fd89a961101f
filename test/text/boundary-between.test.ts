import { expect, test } from "bun:test";
import { type Boundary, boundaryBetween } from "../../src/text/index.ts";

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
  // A small letter goes on with the sentence.
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
  // What may end a sentence as well: the pause decides.
  ["3.", "Mai", "perhaps"],
  ["U.S.", "Army", "perhaps"],
  ["p.m.", "Then", "perhaps"],
  ["No.", "That", "perhaps"],
  ["I.", "Okay", "perhaps"],
  ["etc.", "Then", "perhaps"],
])("between %p and %p there is: %p", (word, next, boundary) => {
  expect(boundaryBetween(` ${word}`, ` ${next}`)).toBe(boundary);
});
