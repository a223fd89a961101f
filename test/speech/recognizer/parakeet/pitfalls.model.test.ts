import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { tinyModel } from "../../../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import type { NativeModel, NativeState, ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { parakeetFamily } from "../../../../src/speech/recognizer/parakeet/index.ts";
import type { WhisperAddon } from "../../../../src/speech/recognizer/whisper/addon.ts";
import type { EngineWord } from "../../../../src/timeline/index.ts";
import { linesOf } from "../../../support/run-script.ts";
import { canTranscribe, nativeDirectory, openBase } from "../../../support/whisper.ts";
import { expectQuickAbort, openAddon, repeatedSpeech, stepsOf, writeModel } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(120_000);

const isReady = canTranscribe("parakeet.cpp's pitfalls", "formats/jfk.flac");

/** A model whose number of channels our own encoder does not take, so that parakeet.cpp's computes it. */
const plainModel = { ...tinyModel, channels: 24 };

describe.skipIf(!isReady)("Parakeet", () => {
  const directory = temporaryDirectory();
  let path = "";
  let addon: ParakeetAddon;
  let model: NativeModel;
  let state: NativeState;
  let speechOf: (seconds: number) => Float32Array = () => new Float32Array();
  beforeAll(async () => {
    path = writeModel(directory.path, plainModel);
    addon = openAddon();
    model = new addon.ParakeetModel(path, { useGpu: false });
    state = new addon.ParakeetState(model);
    speechOf = await repeatedSpeech();
  });
  afterAll(() => {
    state.dispose();
    model.dispose();
    directory[Symbol.dispose]();
  });

  const recognizer = () => {
    const opened = parakeetFamily.open(loadGgml({ nativeDirectory }), path, false);
    const made = opened.createRecognizer();
    const transcribe = async (samples: Float32Array): Promise<EngineWord[]> => {
      const how = { language: "en", threads: 2, vocabulary: "", mayChangeLanguage: false };
      const parts = await made.transcribe(samples, { ...how, signal: new AbortController().signal });
      return parts.flatMap(({ words }) => words);
    };
    const close = () => {
      made.dispose();
      opened.dispose();
    };
    return { transcribe, abort: () => made.abort(), [Symbol.dispose]: close };
  };

  test("returns no words for less than 0.1 s, not those of the call before", async () => {
    using parakeet = recognizer();
    expect((await parakeet.transcribe(speechOf(3))).length).toBeGreaterThan(0);
    for (const count of [0, 1, 160, 319, 1599]) expect(await parakeet.transcribe(new Float32Array(count))).toEqual([]);
  });

  test.each([0, 1, 320, 1599])("refuses a window of %d samples in native code", async (count) => {
    await state.transcribe(speechOf(2), 1);
    await expect(state.transcribe(new Float32Array(count), 1)).rejects.toThrow(`1600 to 800000 samples, not ${count}`);
  });

  test("refuses a window of more than 50 s, of which parakeet.cpp would drop the rest", async () => {
    await expect(state.transcribe(new Float32Array(800_001), 1)).rejects.toThrow("1600 to 800000 samples, not 800001");
  });

  test("recognizes all of a longer chunk, window by window", async () => {
    using parakeet = recognizer();
    const words = await parakeet.transcribe(speechOf(64));
    const covered = new Set(words.map(({ startSeconds }) => Math.floor(startSeconds / 8)));
    expect(covered.size).toBe(8);
    const times = words.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test("gets the samples of a chunk as they are, without padding", async () => {
    using parakeet = recognizer();
    const samples = speechOf(3.337);
    const { tokens } = await state.transcribe(samples, 2);
    const words = await parakeet.transcribe(samples);
    const frames = tokens.map(({ frame }) => frame * 0.08);
    expect(tokens.length).toBeGreaterThan(4);
    for (const { startSeconds } of words) expect(frames).toContain(startSeconds);
    expect(stepsOf(await state.transcribe(speechOf(5.337), 2)).length).not.toBe(tokens.length);
  });

  test("keeps nothing from one call to the next", async () => {
    const first = await state.transcribe(speechOf(4), 2);
    await state.transcribe(speechOf(13), 2);
    await state.transcribe(new Float32Array(16_000), 1);
    expect(await state.transcribe(speechOf(4), 2)).toEqual(first);
  });

  test("gives four states at once over one model the same tokens as one alone", async () => {
    const samples = speechOf(12);
    const alone = stepsOf(await state.transcribe(samples, 1));
    const states = Array.from({ length: 4 }, () => new addon.ParakeetState(model));
    for (let round = 0; round < 5; round++) {
      const all = await Promise.all(states.map((one) => one.transcribe(samples, 1)));
      for (const result of all) expect(stepsOf(result)).toEqual(alone);
    }
    for (const one of states) one.dispose();
  });

  test("refuses a second call of a state during the first one", async () => {
    const running = state.transcribe(speechOf(6), 1);
    expect(() => state.transcribe(speechOf(1), 1)).toThrow("busy");
    await running;
  });

  test("ends within 0.2 s of an abort, inside the encoder's graph", async () => {
    using other = temporaryDirectory();
    const big = writeModel(other.path, { ...plainModel, width: 256, layers: 24, channels: 72 });
    const slow = new addon.ParakeetModel(big, { useGpu: false });
    const busy = new addon.ParakeetState(slow);
    expect(await expectQuickAbort(busy, speechOf(30), 1 / 4)).toBeGreaterThan(600);
    busy.dispose();
    slow.dispose();
  });

  test("frees the weights of a file that fails to load", async () => {
    using other = temporaryDirectory();
    const damaged = writeModel(other.path);
    const { size } = statSync(damaged);
    truncateSync(damaged, size - 1);
    const times = 100;
    const args = [damaged, String(times)];
    const [grown] = (await linesOf(join(import.meta.dir, "load-often.ts"), args)).map(Number);
    expect(grown).toBeLessThan((times * size) / 5);
  });

  test("and Whisper compute the same in one process as alone, at the same time", async () => {
    const samples = speechOf(11);
    const alone = stepsOf(await state.transcribe(samples, 1));
    const whisper = openBase().createState();
    const how = { language: "en", threads: 1, beamSize: 1, temperatureIncrement: 0, audioContext: 600 };
    const text = (await whisper.transcribe(samples, how)).segments.map((segment) => segment.text);
    const [both, together] = await Promise.all([whisper.transcribe(samples, how), state.transcribe(samples, 1)]);
    expect(both.segments.map((segment) => segment.text)).toEqual(text);
    expect(text.join(" ")).toContain("ask what you can do for your country");
    expect(stepsOf(together)).toEqual(alone);
    whisper.dispose();
  });

  test("leaves the log to the addon: a state changes nothing about the errors of either library", async () => {
    new addon.ParakeetState(model).dispose();
    const whisperAddon = addon as ParakeetAddon & WhisperAddon;
    const heads = { alignmentHeads: 1, alignmentLayers: 1 };
    const missing = join(directory.path, "missing.bin");
    const openWhisper = () =>
      new whisperAddon.Model(missing, { useGpu: false, flashAttention: true, slots: 1, ...heads });
    expect(openWhisper).toThrow(`failed to open '${missing}'`);
    expect(() => new addon.ParakeetModel(missing, { useGpu: false })).toThrow(`failed to open '${missing}'`);
  });
});
