import { expect, test } from "bun:test";
import type { Reference } from "../../../tools/corpus/index.ts";
import { uncertainResult } from "../../../tools/evaluate/uncertain-speakers.ts";

const reference: Reference = {
  ...{
    path: "dialogue/one",
    file: "",
    language: "en",
    group: "dialogue",
    speakers: 2,
    durationSeconds: 9,
    exact: true,
  },
  ...{ text: null, wordTurns: null, spoken: null },
  turns: [
    { speaker: "Anna", startSeconds: 0, endSeconds: 4 },
    { speaker: "Ben", startSeconds: 4, endSeconds: 8 },
  ],
};

const said = (speaker: string, startSeconds: number, endSeconds: number, isSpeakerUncertain: boolean) => ({
  ...{ speaker, startSeconds, endSeconds, isSpeakerUncertain, text: "yes" },
  words: [{ text: "yes", startSeconds, endSeconds }],
});
const heard = (...segments: ReturnType<typeof said>[]) => ({ outcome: "completed", language: "en", segments });

test("marked segments and those with a wrong speaker are counted, but not those in which nobody speaks", () => {
  const hypothesis = heard(
    said("A", 0, 3, false),
    said("A", 3, 4, true),
    said("B", 4, 6, false),
    said("A", 6, 7, true),
    said("A", 7, 7.5, false),
    said("B", 8, 9, true),
  );
  expect(uncertainResult(reference, hypothesis)).toMatchObject({ segments: 5, marked: 2, wrong: 2, both: 1 });
});

test("a recording with one speaker, or without reference turns, is not counted", () => {
  expect(uncertainResult(reference, heard(said("A", 0, 8, false)))).toBeNull();
  expect(
    uncertainResult({ ...reference, turns: null }, heard(said("A", 0, 4, true), said("B", 4, 8, true))),
  ).toBeNull();
});
