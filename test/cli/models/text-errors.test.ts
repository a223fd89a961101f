import { describe, expect, test } from "bun:test";
import { countTextErrors } from "../../../src/cli/models/text-errors.ts";

describe("the errors of a text", () => {
  test.each<[string, string, string, "words" | "characters", number, number]>([
    ["equal texts", "Ask not, what!", "ask not what", "words", 0, 3],
    ["a missing word", "ask not what", "ask what", "words", 1, 3],
    ["an additional word", "ask what", "ask not what", "words", 1, 2],
    ["another word", "ask not what", "ask now what", "words", 1, 3],
    ["two words in the wrong order count twice", "ask not what", "not ask what", "words", 2, 3],
    ["no text", "ask not", "", "words", 2, 2],
    ["no reference", "", "ask", "words", 1, 0],
    ["typographic apostrophes", "it’s ‘fine’", "it's fine", "words", 0, 2],
    ["wide forms", "ＡＢＣ １２", "abc 12", "words", 0, 2],
    ["characters without spaces", "復興 努力。", "復興怒力", "characters", 1, 4],
  ])("%s", (_, reference, text, unit, errors, length) => {
    expect(countTextErrors(reference, text, unit)).toEqual({ errors, length });
  });
});
