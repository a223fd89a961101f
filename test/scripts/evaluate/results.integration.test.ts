import { expect, test } from "bun:test";
import { diarizationErrors } from "../../../harness/der.ts";
import { plainWords } from "../../../harness/wer.ts";
import type { Reference, Scoring } from "../../../tools/corpus/index.ts";
import { measure, type Transcribed } from "../../../tools/evaluate/results.ts";

/** Replaces the Python tools. Like them, it knows only texts that were passed in before. */
const scoring: Scoring = {
  normalise: async (texts) => {
    const known = new Set(texts.map(([language, text]) => `${language} ${text}`));
    return (language, text) => {
      expect(known).toContain(`${language} ${text}`);
      return plainWords(text);
    };
  },
  diarizationErrors: async (talks) => talks.map(({ reference, found }) => diarizationErrors(reference, found)),
};

const said = (speaker: string, text: string, startSeconds = 0, endSeconds = 0) => {
  return { speaker, text, startSeconds, endSeconds };
};

function reference(path: string, values: Partial<Reference>): Reference {
  return {
    ...{ path, file: path, group: "single", durationSeconds: 4, language: "en", speakers: 1, text: null },
    ...{ turns: null, wordTurns: null, spoken: null, exact: false, ...values },
  };
}

function hypothesis(...segments: readonly ReturnType<typeof said>[]) {
  const words = segments.map(({ text, startSeconds, endSeconds }) => ({ text, startSeconds, endSeconds }));
  return {
    outcome: "completed",
    language: "en",
    segments: segments.map((segment, index) => ({ ...segment, words: words.slice(index, index + 1) })),
  };
}

const single = reference("single/one", { text: "hello there" });
const transcribed: Transcribed = {
  recordings: [
    { reference: single, hypothesis: hypothesis(said("A", "hello where")) },
    {
      reference: reference("dialogue/two-at-once", {
        ...{ group: "other", speakers: 2, spoken: [said("left", "good morning"), said("right", "to you")] },
      }),
      hypothesis: hypothesis(said("A", "to"), said("B", "good morning"), said("A", "you")),
    },
    {
      reference: reference("dialogue/built", {
        ...{
          group: "dialogue",
          speakers: 2,
          exact: true,
          text: "yes no",
          turns: [said("a", "yes", 1, 2), said("b", "no", 3, 4)],
        },
        spoken: [said("a", "yes", 1, 2), said("b", "no", 3, 4)],
      }),
      hypothesis: hypothesis(said("A", "yes", 1.1, 2), said("B", "um", 2.4, 2.6), said("B", "no", 3, 4.5)),
    },
  ],
  made: [
    {
      made: { name: "twice", parts: [single, single], gaps: [], language: "en" },
      hypothesis: hypothesis(said("A", "hello there hello there")),
    },
    {
      made: { name: "tone", parts: [], gaps: [{ startSeconds: 0, endSeconds: 60 }], language: "" },
      hypothesis: hypothesis(said("A", "thank you", 1, 2)),
    },
  ],
};

test("words are counted in order, by speaker when two speak at once, and for joined and separate recordings", async () => {
  const { words, joined, times } = await measure(scoring, transcribed, ["words"], null);
  expect(words.map(({ path, all, bySpeaker }) => [path, all?.errors ?? null, bySpeaker?.errors ?? null])).toEqual([
    ["single/one", 1, null],
    ["dialogue/two-at-once", null, 0],
    ["dialogue/built", 1, 1],
  ]);
  expect(joined).toMatchObject([{ name: "twice", all: { errors: 0, length: 4 }, apart: { errors: 2, length: 4 } }]);
  expect(times).toEqual([]);
});

test("times are measured on dialogues with exact turns, hallucinated words also in recordings without speech", async () => {
  const { times, invented, words } = await measure(scoring, transcribed, ["times", "invented"], null);
  expect(times).toMatchObject([{ path: "dialogue/built", turns: 2, words: 3, outside: 2 }]);
  expect(times[0]?.starts.map((error) => Math.round(error * 100))).toEqual([10, 0]);
  expect(times[0]?.ends.map((error) => Math.round(error * 100))).toEqual([0, 50]);
  expect(invented.map(({ name, words }) => [name, words])).toEqual([
    ["twice", []],
    ["tone", ["thank", "you"]],
    ["dialogue/built", ["um"]],
  ]);
  expect(words).toEqual([]);
});
