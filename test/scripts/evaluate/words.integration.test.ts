import { expect, test } from "bun:test";
import { plainWords } from "../../../harness/wer.ts";
import type { Reference } from "../../../tools/corpus/index.ts";
import type { Hypothesis } from "../../../tools/evaluate/server.ts";
import { longestRepeat, speakerWordErrors, textErrors } from "../../../tools/evaluate/words.ts";

/** Parses turns from lines such as `a: good morning`. */
function turnsOf(lines: readonly string[]) {
  return lines.map((line, index) => {
    const [speaker = "", text = ""] = line.split(": ");
    return { startSeconds: index, endSeconds: index + 1, speaker, text };
  });
}

function reference(lines: readonly string[], language = "en"): Reference {
  const spoken = turnsOf(lines);
  return {
    ...{ path: "dialogue/made", file: "", group: "dialogue", durationSeconds: lines.length, language, speakers: 0 },
    ...{ turns: spoken, wordTurns: null, spoken, exact: true, text: spoken.map(({ text }) => text).join(" ") },
  };
}

function hypothesis(lines: readonly string[]): Hypothesis {
  const segments = turnsOf(lines).map((turn) => ({ ...turn, words: [] }));
  return { outcome: "completed", language: "en", segments };
}

/** The scorer uses Whisper's own normalizer; this one only splits words. */
const normalise = (_: string, text: string) => plainWords(text);

test.each<[string, string[], string[], number]>([
  ["a correct transcript", ["a: good morning", "b: hello there"], ["A: Good morning.", "B: Hello there."], 0],
  ["swapped labels", ["a: good morning", "b: hello there"], ["B: Good morning", "A: Hello there"], 0],
  ["a word at the wrong speaker", ["a: good morning to you", "b: hello"], ["A: good morning", "B: to you hello"], 4],
  ["two speakers under one label", ["a: one two three", "b: four five"], ["A: one two three four five"], 4],
  ["one speaker under two labels", ["a: one two three four"], ["A: one two three", "B: four"], 2],
  ["a label without a speaker", ["a: one two"], ["A: one two", "B: three"], 1],
  ["an empty transcript", ["a: one two", "b: three"], [], 3],
])("word errors by speaker are counted for %s", (_, said, found, errors) => {
  expect(speakerWordErrors(normalise, reference(said), hypothesis(found)).errors).toBe(errors);
});

test("errors are counted in characters for a language without spaces", () => {
  expect(textErrors(normalise, reference(["a: 桥下垂直 净空"], "zh"), "桥上垂直净空")).toEqual({
    errors: 1,
    length: 6,
  });
  expect(textErrors(normalise, reference(["a: eins zwei"], "de"), "eins drei")).toEqual({ errors: 1, length: 2 });
});

test.each<[string, string, string, number]>([
  ["a phrase that was said once", "we go home", "we go home", 0],
  ["a repeated phrase", "we go home now", "we go home we go home now", 3],
  ["a phrase that was said equally often", "we go home we go home", "we go home we go home", 0],
  ["a phrase that is repeated later", "thank you so much for it", "thank you so much for it all thank you so much", 4],
  ["a word that repeats without end", "the end", "the the the the the the end", 3],
  ["a stutter", "the end", "the the end", 1],
  ["a stutter that was said", "no no it is", "no no it is", 0],
  ["an empty transcript", "the end", "", 0],
])("the longest repetition is found in %s", (_, said, found, length) => {
  expect(longestRepeat(said.split(" "), found.split(" "))).toBe(length);
});
