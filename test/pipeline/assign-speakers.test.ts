import { describe, expect, test } from "bun:test";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import type { Turn } from "../../src/timeline/index.ts";
import { turn } from "../support/spans.ts";
import { wordsFrom } from "./words.ts";

const speakers = (words: ReturnType<typeof wordsFrom>, turns: Turn[]) =>
  assignSpeakers(words, turns).map((word) => word.speaker);

describe("a word", () => {
  const cases: [string, ReturnType<typeof wordsFrom>, Turn[], number[]][] = [
    [
      "goes to the speaker who has most of its time",
      wordsFrom(0, "a b c d", 0.5),
      [turn(0, 0.9, 0), turn(0.9, 3, 1)],
      [0, 0, 1, 1],
    ],
    [
      "outside all turns goes to the nearest one",
      [...wordsFrom(0, "a"), ...wordsFrom(5.1, "b"), ...wordsFrom(8.8, "c"), ...wordsFrom(20, "d")],
      [turn(4, 5, 0), turn(9.2, 10, 1)],
      [0, 0, 1, 1],
    ],
    [
      "in overlapping speech goes to the speaker who covers more of it",
      wordsFrom(1, "a"),
      [turn(0, 1.1, 0), turn(0.9, 3, 1)],
      [1],
    ],
    [
      "in overlapping speech stays with its sentence",
      wordsFrom(0, "That was all. Then what came next?"),
      [turn(0, 1.6, 0), turn(0.5, 2.2, 1)],
      [0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "at a change of speaker stays with its sentence when the turn begins late",
      wordsFrom(0, "How are you? Fine thanks for asking."),
      [turn(0, 1.1, 0), turn(1.1, 3, 1)],
      [0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "at a change of speaker stays with its sentence when the turn begins early",
      wordsFrom(0, "And how are you? Fine thanks."),
      [turn(0, 1, 0), turn(1, 3, 1)],
      [0, 0, 0, 0, 1, 1],
    ],
    [
      "in mid-sentence stays with its turn when no sentence ends close by",
      wordsFrom(0, "one two three four five six seven eight"),
      [turn(0, 1.2, 0), turn(1.2, 3, 1)],
      [0, 0, 0, 0, 1, 1, 1, 1],
    ],
    [
      "of a short turn goes to its speaker where the text has no punctuation",
      wordsFrom(0, "so we went home i know that and then it rained"),
      [turn(0, 1.2, 0), turn(1.2, 2.1, 1), turn(2.1, 3.3, 0)],
      [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0],
    ],
    [
      "stays with its sentence when another speaker talks over it",
      wordsFrom(0, "So we went home and then it rained."),
      [turn(0, 3, 0), turn(1.2, 1.6, 1)],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    [
      "of an interjection goes to the speaker who interjects",
      [...wordsFrom(0, "So we went home."), ...wordsFrom(1.3, "Yeah."), ...wordsFrom(1.8, "And then it rained.")],
      [turn(0, 3, 0), turn(1.25, 1.7, 1)],
      [0, 0, 0, 0, 1, 0, 0, 0, 0],
    ],
  ];
  test.each(cases)("%s", (_, words, turns, expected) => {
    expect(speakers(words, turns)).toEqual(expected);
  });

  test("is kept when there are no turns", () => {
    expect(speakers(wordsFrom(0, "a b"), [])).toEqual([0, 0]);
  });

  test("keeps its text and times", () => {
    const words = wordsFrom(0, "How are you?");
    expect(assignSpeakers(words, [turn(0, 9, 3)])).toEqual(words.map((word) => ({ ...word, speaker: 3 })));
  });
});
