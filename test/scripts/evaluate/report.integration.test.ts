import { expect, test } from "bun:test";
import { rowsOf } from "../../../tools/evaluate/report.ts";
import type { Results, WordResult } from "../../../tools/evaluate/results.ts";

const nothing: Results = {
  ...{ words: [], joined: [], segmentSpeakers: [], turnSpeakers: [], scorerMismatches: [], times: [], invented: [] },
  uncertain: [],
  peer: null,
};

function words(path: string, values: Partial<WordResult>): WordResult {
  return {
    ...{
      path,
      group: "single",
      language: "en",
      detectedLanguage: "en",
      all: { errors: 0, length: 10 },
      bySpeaker: null,
    },
    ...{ longestRepeat: 0, referenceText: "", transcript: "", ...values },
  };
}

/** Measures and values without the data behind them. */
const shown = (results: Partial<Results>) =>
  rowsOf({ ...nothing, ...results }).map(({ measure, value }) => `${measure}: ${value}`);

test("an aspect that was not measured has no row", () => {
  expect(rowsOf(nothing)).toEqual([]);
});

test("errors are added up before they are divided, for each language and for all", () => {
  const rows = shown({
    words: [
      words("single/en", { all: { errors: 1, length: 90 } }),
      words("single/zh", { language: "zh", detectedLanguage: "yue", all: { errors: 9, length: 10 } }),
      words("dialogue/one", { group: "dialogue", bySpeaker: { errors: 3, length: 10 }, longestRepeat: 4 }),
    ],
  });
  expect(rows).toEqual([
    "WER, single/: 10.0 %",
    "WER, single/, en: 1.1 %",
    "WER, single/, zh: 90.0 %",
    "WER, dialogues: 0.0 %",
    "cpWER, dialogues: 30.0 %",
    "languages correct, single/: 1 of 2",
    "phrases of four words or more that only the transcript repeats: up to 4 words",
  ]);
});

test("speakers are counted for each recording, and their errors are relative to the speech", () => {
  const errors = { totalSeconds: 100, falseAlarmSeconds: 2, missedSeconds: 5, confusionSeconds: 3 };
  const one = { path: "dialogue/one", group: "dialogue" as const, speakers: 2, found: 2, errors, wordErrors: null };
  const segmentSpeakers = [one, { ...one, found: 4, errors: { ...errors, missedSeconds: 15 } }];
  expect(rowsOf({ ...nothing, segmentSpeakers })).toEqual([
    {
      measure: "DER, dialogues, segments",
      value: "15.0 %",
      over: "false alarm 2.0 %, missed 10.0 %, confusion 3.0 %; 2 recordings",
    },
    {
      measure: "numbers of speakers correct, dialogue, segments",
      value: "1 of 2",
      over: "2 recordings; 2 too many or too few in total",
    },
  ]);
});

test("time errors have a median size and a median direction", () => {
  const times = [{ path: "dialogue/one", starts: [-0.3, -0.1, 0.05], ends: [], turns: 4, words: 50, outside: 1 }];
  expect(rowsOf({ ...nothing, times })).toEqual([
    {
      measure: "start of the first word of a turn, median error",
      value: "0.10 s",
      over: "90 % under 0.10 s; 66.7 % within 0.2 s; median 0.10 s early; 3 of 4 turns",
    },
    { measure: "words that extend 0.2 s or more beyond the speech", value: "2.0 %", over: "1 of 50 words" },
  ]);
});

test("marks of uncertain speakers are counted over all recordings of a group", () => {
  const one = { path: "exchange/one", group: "exchange" as const, segments: 10, marked: 4, wrong: 2, both: 1 };
  expect(shown({ uncertain: [one, { ...one, marked: 0, wrong: 1, both: 0 }] })).toEqual([
    "marked segments with a wrong speaker, quick exchanges: 25.0 %",
    "segments with a wrong speaker marked, quick exchanges: 33.3 %",
  ]);
});
