import { beforeAll, describe, expect, test } from "bun:test";
import type { WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import type { WhisperResult } from "../../../../src/speech/recognizer/whisper/types.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";

const jfk = "formats/jfk.flac";
/** As fast as possible: only the 11 s of the recording are encoded, of the window's 30 s. */
const greedy = { language: "en", threads: 1, beamSize: 1, audioContext: 576 } as const;

function withState<T>(job: (state: WhisperState) => Promise<T>): Promise<T> {
  const state = openBase().createState();
  return job(state).finally(() => state.dispose());
}

describe.skipIf(!canTranscribe("transcription", jfk))("a state", () => {
  let samples: Float32Array;
  /** The recording, transcribed by a state of its own while no other one transcribes. */
  let alone: WhisperResult;
  beforeAll(async () => {
    samples = await readSamples(jfk);
    alone = await withState((state) => state.transcribe(samples, greedy));
  });

  test("transcribes Kennedy's inaugural address", async () => {
    const result = await withState((state) => state.transcribe(samples, { language: "en", threads }));
    const text = result.segments.map((segment) => segment.text).join("");
    expect(text.toLowerCase()).toContain("ask not what your country can do for you");
    expect(text).not.toMatch(/[<[]/);
    expect(result).toMatchObject({ aborted: false });
  });

  test("returns words that join to the text, in order and inside the recording", () => {
    expect(alone.segments).not.toBeEmpty();
    let before = 0;
    for (const segment of alone.segments) {
      expect(segment.words.map((word) => word.text).join("")).toBe(segment.text);
      expect(segment.averageLogProbability).toBeLessThanOrEqual(0);
      expect(segment.noSpeechProbability).toBeWithin(0, 1.0001);
      for (const word of segment.words) {
        expect(word.startSeconds).toBeGreaterThanOrEqual(before);
        expect(word.endSeconds).toBeGreaterThan(word.startSeconds);
        expect(word.probability).toBeWithin(0, 1.0001);
        expect(word.text.trim()).not.toBe("");
        before = word.endSeconds;
      }
    }
    expect(before).toBeLessThanOrEqual(samples.length / 16_000);
  });

  test("does not change the samples or remember them between calls", async () => {
    const copy = samples.slice();
    await withState(async (state) => {
      expect(await state.transcribe(samples, greedy)).toEqual(alone);
      expect(samples).toEqual(copy);
      expect(await state.transcribe(samples, greedy)).toEqual(alone);
    });
  });

  test("distinguishes silence from speech", async () => {
    await withState(async (state) => {
      const doubtOf = async (sound: Float32Array) =>
        (await state.transcribe(sound, greedy)).segments[0]?.noSpeechProbability ?? 1;
      expect(await doubtOf(samples)).toBeLessThan(0.2);
      expect(await doubtOf(new Float32Array(160_000))).toBeGreaterThan(0.6);
      expect(await doubtOf(samples)).toBeLessThan(0.2);
    });
  });

  test("uses no more than the given audio context", () => {
    const text = alone.segments.map((segment) => segment.text).join("");
    expect(text.toLowerCase()).toContain("your country can do for you");
  });

  test("gives the same words while another state transcribes", async () => {
    const [one, other] = await Promise.all([
      withState((state) => state.transcribe(samples, greedy)),
      withState((state) => state.transcribe(samples, greedy)),
    ]);
    expect(one).toEqual(alone);
    expect(other).toEqual(alone);
  });

  test("stops on abort and can be used again", async () => {
    await withState(async (state) => {
      const running = state.transcribe(samples, greedy);
      await Bun.sleep(50);
      state.abort();
      expect(await running).toMatchObject({ aborted: true, segments: [] });
      expect((await state.transcribe(samples, greedy)).segments).not.toBeEmpty();
    });
  });

  test("stops when it is disposed of during a call", async () => {
    const state = openBase().createState();
    const running = state.transcribe(samples, greedy);
    state.dispose();
    expect(await running).toMatchObject({ aborted: true });
    await expect(state.transcribe(samples, greedy)).rejects.toThrow("disposed");
  });

  test("refuses a second concurrent call", async () => {
    await withState(async (state) => {
      const running = state.transcribe(samples, greedy);
      await expect(state.transcribe(samples, greedy)).rejects.toThrow("busy");
      state.abort();
      await running;
    });
  });

  test.each([
    ["nothing", 0],
    ["less than a tenth of a second", 1_599],
    ["a tenth of a second", 1_600],
    ["hardly more than the alignment's filter", 2_600],
    ["half a second", 8_000],
  ])("returns no words for %s of silence", async (_, length) => {
    const result = await withState((state) => state.transcribe(new Float32Array(length), greedy));
    expect(result.aborted).toBe(false);
    for (const word of result.segments.flatMap((segment) => segment.words)) {
      expect(word.endSeconds).toBeLessThanOrEqual(length / 16_000 + 1e-9);
    }
  });

  test.each([
    ["an unknown language", { language: "tlh" }, "does not know the language"],
    ["no threads", { threads: 0 }, "number of threads"],
    ["too many beams", { beamSize: 9 }, "beam size"],
    ["a prefix with timestamps", { prefix: " Ask not" }, "without timestamps"],
    ["an audio context shorter than the samples", { audioContext: 10 }, "audio context"],
  ])("refuses %s", async (_, wrong, message) => {
    const second = new Float32Array(16_000);
    await expect(withState((state) => state.transcribe(second, { ...greedy, ...wrong }))).rejects.toThrow(message);
  });
});
