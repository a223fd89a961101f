import { describe, expect, test } from "bun:test";
import { corpusPath } from "../../../../harness/checkout.ts";
import type { NativePiece } from "../../../../src/speech/recognizer/whisper/addon.ts";
import { wordTimes } from "../../../../src/speech/recognizer/whisper/word-times.ts";
import { findSilences } from "../../../../src/speech/silences.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";
import { soundAt } from "../../sound-at.ts";

const segment = { start: 0, end: 300, noSpeechProbability: 0, averageLogProbability: 0, pieces: [] };

/** Words that alignment lets end at these seconds. */
function endingAt(...ends: number[]) {
  const piece = (end: number): NativePiece => ({
    text: " word",
    probability: 1,
    alignedEnd: end * 100,
    isGiven: false,
  });
  return ends.map((end) => ({ pieces: [piece(end)], segment }));
}

const rounded = (spans: { startSeconds: number; endSeconds: number }[]) =>
  spans.map((span) => [Number(span.startSeconds.toFixed(2)), Number(span.endSeconds.toFixed(2))]);

describe("the times of words", () => {
  test("exclude the pause that alignment adds to the word before it", () => {
    const samples = soundAt(3, [0.2, 0.6], [1.4, 1.8]);
    expect(rounded(wordTimes(endingAt(1.4, 1.8), samples))).toEqual([
      [0.2, 0.6],
      [1.4, 1.8],
    ]);
  });

  test("give speech after a pause to the next word, where alignment is late", () => {
    const samples = soundAt(3, [0.2, 0.7], [1.4, 2.0]);
    expect(rounded(wordTimes(endingAt(1.55, 2.0), samples))).toEqual([
      [0.2, 0.7],
      [1.4, 2.0],
    ]);
  });

  test("share sound with a word that alignment puts into silence", () => {
    const samples = soundAt(3, [0.2, 0.8]);
    expect(rounded(wordTimes(endingAt(0.9, 1.6), samples))).toEqual([
      [0.2, 0.5],
      [0.5, 0.8],
    ]);
  });

  test("bound a word in a long span without detectable pauses", () => {
    const samples = soundAt(30, [0, 30]);
    const [first, second] = wordTimes(endingAt(10, 20), samples);
    expect(first?.startSeconds).toBeGreaterThan(8);
    expect(second?.endSeconds).toBeLessThan(12);
  });

  test("exclude the pause after a full stop that cannot be detected", () => {
    const [word] = endingAt(1);
    const stop = { text: ".", probability: 1, alignedEnd: 190, isGiven: false };
    const words = [{ segment, pieces: [...(word?.pieces ?? []), stop] }, ...endingAt(2.4)];
    const [first, second] = rounded(wordTimes(words, soundAt(3, [0, 3])));
    expect(first?.[1]).toBe(1.15);
    expect(second?.[0]).toBe(1.9);
    const heard = rounded(wordTimes(words, soundAt(3, [0.2, 1.3], [1.9, 2.4])));
    expect(heard.map(([, end]) => end)).toEqual([1.3, 2.4]);
  });

  test("stay in order and inside the recording for any alignment", () => {
    const samples = soundAt(2, [0, 2]);
    const spans = wordTimes(endingAt(1.5, 1.5, 0.4, 9, -0.01, 2), samples);
    let before = 0;
    for (const span of spans) {
      expect(span.startSeconds).toBeGreaterThanOrEqual(before);
      expect(span.endSeconds).toBeGreaterThan(span.startSeconds);
      before = span.endSeconds;
    }
    expect(before).toBeLessThanOrEqual(2 + 1e-9);
  });
});

test("stay inside the recording for too many words", () => {
  const spans = wordTimes(endingAt(...Array.from({ length: 200 }, (_, index) => index / 200)), soundAt(1, [0, 1]));
  expect(spans.length).toBe(200);
  expect(spans.at(-1)?.endSeconds).toBeLessThanOrEqual(1 + 1e-9);
  expect(spans.every((span) => span.endSeconds > span.startSeconds)).toBe(true);
});

describe("silences", () => {
  test("are found between sounds, unless they are too short", () => {
    const found = findSilences(soundAt(3, [0.5, 1], [1.1, 2]));
    expect(rounded(found)).toEqual([
      [0, 0.5],
      [2, 3],
    ]);
  });

  test("are not found in uniform sound", () => {
    expect(findSilences(soundAt(1, [0, 1]))).toEqual([]);
    expect(findSilences(new Float32Array(16_000))).toEqual([]);
    expect(findSilences(new Float32Array(0))).toEqual([]);
  });
});

const dialogue = "dialogue/dlg-09-2spk-short-turns.flac";
const turnsFile = "dialogue/dlg-09-2spk-short-turns.turns.json";

describe.skipIf(!canTranscribe("word times in a dialogue", dialogue, turnsFile))("in a dialogue", () => {
  test("hardly any word lies between turns, and each turn starts with a word", async () => {
    const turns: { start: number; end: number }[] = await Bun.file(corpusPath(turnsFile)).json();
    const within = turns.filter((turn) => turn.end < 28);
    const last = within.at(-1)?.end ?? 0;
    const samples = (await readSamples(dialogue)).slice(0, Math.round((last + 0.1) * 16_000));
    const state = openBase().createState();
    const result = await state.transcribe(samples, { language: "en", threads, beamSize: 1, withoutTimestamps: true });
    state.dispose();
    const words = result.segments.flatMap((one) => one.words);
    const outside = words.filter(
      (word) => !within.some((turn) => word.startSeconds > turn.start - 0.2 && word.endSeconds < turn.end + 0.2),
    );
    expect(words.length).toBeGreaterThan(40);
    expect(outside.length / words.length).toBeLessThan(0.06);
    const errors = within.map((turn) => Math.min(...words.map((word) => Math.abs(word.startSeconds - turn.start))));
    const median = errors.sort((a, b) => a - b)[Math.floor(errors.length / 2)];
    expect(median).toBeLessThan(0.2);
  }, 60_000);
});
