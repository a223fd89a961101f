import { expect, test } from "bun:test";
import { moveStragglers } from "../../src/pipeline/move-stragglers.ts";
import type { Turn } from "../../src/timeline/index.ts";
import { turn } from "../support/spans.ts";
import { wordsFrom } from "./words.ts";

const times = (words: ReturnType<typeof wordsFrom>) =>
  words.map(({ text, startSeconds }) => [text.trim(), Math.round(100 * startSeconds) / 100]);

const twoTurns = [turn(0, 1.6, 0), turn(2, 5, 1)];

test("the last word of a sentence moves back across the pause at which the speaker changes", () => {
  const words = [...wordsFrom(0, "What has happened to", 0.4), ...wordsFrom(2, "me? Let me see.", 0.4)];
  expect(times(moveStragglers(words, twoTurns)).slice(3, 6)).toEqual([
    ["to", 1.2],
    ["me?", 1.36],
    ["Let", 2.4],
  ]);
});

test("the first words of a sentence move across the pause to their speaker's turn", () => {
  const words = [...wordsFrom(0, "That is all. And", 0.4), ...wordsFrom(2, "then it rained.", 0.4)];
  expect(times(moveStragglers(words, twoTurns)).slice(2, 5)).toEqual([
    ["all.", 0.8],
    ["And", 2],
    ["then", 2.17],
  ]);
});

const unchanged: [string, ReturnType<typeof wordsFrom>, Turn[]][] = [
  [
    "in a pause of one speaker",
    [...wordsFrom(0, "What has happened to", 0.4), ...wordsFrom(2, "me? Let me see.", 0.4)],
    [turn(0, 5, 0)],
  ],
  [
    "that are a turn of their own",
    [...wordsFrom(0, "So we went home", 0.4), ...wordsFrom(2, "yeah. And then it rained.", 0.4)],
    [turn(0, 1.6, 0), turn(2, 2.4, 1), turn(2.4, 5, 0)],
  ],
  [
    "after the end of a clause",
    [...wordsFrom(0, "He heard it himself,", 0.4), ...wordsFrom(2, "she said. He was here.", 0.4)],
    twoTurns,
  ],
  [
    "far from the end of a sentence",
    [...wordsFrom(0, "What has happened to", 0.4), ...wordsFrom(2, "me and to you? Let", 0.4)],
    twoTurns,
  ],
  ["without turns", [...wordsFrom(0, "happened to", 0.4), ...wordsFrom(2, "me? Let me see.", 0.4)], []],
];

test.each(unchanged)("words stay %s", (_, words, turns) => {
  expect(moveStragglers(words, turns)).toEqual(words);
});
