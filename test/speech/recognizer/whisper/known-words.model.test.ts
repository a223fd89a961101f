import { beforeAll, describe, expect, test } from "bun:test";
import type { WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import { transcribeLive } from "../../../../src/speech/recognizer/whisper/transcription/transcribe-live.ts";
import type { EngineWord } from "../../../../src/timeline/index.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";

const jfk = "formats/jfk.flac";

function withState<T>(job: (state: WhisperState) => Promise<T>): Promise<T> {
  const state = openBase().createState();
  return job(state).finally(() => state.dispose());
}

const textOf = (words: readonly EngineWord[]) => words.map(({ text }) => text).join("");

describe.skipIf(!canTranscribe("live passes", jfk))("a live pass", () => {
  const { signal } = new AbortController();
  const pass = (state: WhisperState, sound: Float32Array, known: readonly EngineWord[], isShort = true) =>
    transcribeLive(state, sound, {
      language: "en",
      threads,
      vocabulary: "",
      signal,
      known,
      isShort,
      hasOnnxEncoder: false,
    });
  let samples: Float32Array;
  let all: readonly EngineWord[];
  beforeAll(async () => {
    samples = await readSamples(jfk);
    all = await withState((state) => pass(state, samples, []));
  });

  test("without known words recognizes all words", () => {
    expect(textOf(all).toLowerCase()).toContain("ask not what your country can do for you");
  });

  test.each([true, false])("continues after the known words, with a short window: %p", async (isShort) => {
    for (const count of [1, 5, 12]) {
      const rest = await withState((state) => pass(state, samples, all.slice(0, count), isShort));
      expect(textOf(rest).replaceAll(/[^a-z ]/gi, "")).toBe(textOf(all.slice(count)).replaceAll(/[^a-z ]/gi, ""));
      // Each word is at its place in the sound, so the alignment counts the known words, too.
      for (const [at, { startSeconds }] of rest.entries()) {
        expect(Math.abs(startSeconds - (all[count + at]?.startSeconds ?? 0))).toBeLessThan(0.5);
      }
    }
  });

  test("returns nothing if all words are known", async () => {
    expect(await withState((state) => pass(state, samples, all))).toEqual([]);
  });

  test("takes the last tokens of a long text", async () => {
    const long = [...Array.from({ length: 20 }, () => all.slice(0, 8)).flat(), ...all.slice(8, 12)];
    const rest = await withState((state) => pass(state, samples, long));
    expect(rest.every(({ text }) => text.trim() !== "")).toBe(true);
  });

  test("has the same words and probabilities whatever was recognized before", async () => {
    const short = samples.slice(0, 4.3 * 16_000);
    const alone = await withState((state) => pass(state, short, all.slice(0, 2)));
    expect(alone).not.toBeEmpty();
    await withState(async (state) => {
      await pass(state, samples, []);
      await pass(
        state,
        samples.map((sample) => -0.7 * sample),
        [],
      );
      expect(await pass(state, short, all.slice(0, 2))).toEqual(alone);
    });
  });
});
