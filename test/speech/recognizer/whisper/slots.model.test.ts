import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { smallSizes, smallWhisper } from "../../../../harness/whisper/small-models.ts";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import { openModel, type WhisperModel, type WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import type { TranscribeOptions } from "../../../../src/speech/recognizer/whisper/types.ts";
import { basePath, canTranscribe, nativeDirectory, openBase, readSamples } from "../../../support/whisper.ts";

setDefaultTimeout(120_000);

const recordings = ["formats/jfk.flac", "dialogue/dlg-01-2spk-FM.flac"];
const options: TranscribeOptions = { language: "en", threads: 1, temperatureIncrement: 0 };
const vocabulary = "Names: Anna Karenina, Konstantin Dmitrievich Levin, Princess Katerina Alexandrovna Shcherbatskaya.";
/** The first and the second pass, as the product runs them, a greedy one, and one that repeats doubtful texts. */
const passes: readonly TranscribeOptions[] = [
  { ...options, beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true },
  { ...options, beamSize: 5, withoutTimestamps: false, suppressNonSpeech: true, initialPrompt: "Names." },
  { ...options, beamSize: 1, withoutTimestamps: true },
  { ...options, beamSize: 5, withoutTimestamps: true, initialPrompt: vocabulary, temperatureIncrement: 0.5 },
];

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

describe.skipIf(!canTranscribe("slots", ...recordings))("texts that are decoded together", () => {
  let speech: Float32Array[] = [];
  /** Windows for a model with random weights: parts of both recordings. */
  let windows: Float32Array[] = [];
  beforeAll(async () => {
    speech = (await Promise.all(recordings.map(readSamples))).map((samples) => samples.subarray(0, 8 * 16_000));
    windows = [0, 1, 2, 3].map((part) =>
      (speech[part % 2] as Float32Array).subarray(part * 16_000, (part + 4) * 16_000),
    );
    writeFileSync(join(directory.path, "small.bin"), smallWhisper({ ...smallSizes, vocabulary: 51_865 }).bytes);
  });

  const openSmall = (slots: number) =>
    openModel(loadGgml({ nativeDirectory }), join(directory.path, "small.bin"), false, slots);

  test("have the words and times that each has alone, and the words that a model without slots has", async () => {
    const pass = passes[3] as TranscribeOptions;
    const model = openModel(loadGgml({ nativeDirectory }), basePath, false, speech.length);
    const states = speech.map(() => model.createState());
    const together = await Promise.all(states.map((state, at) => textOf(state, speech[at] as Float32Array, pass)));
    expect(model.work().passes.items).toBeGreaterThanOrEqual(speech.length);
    const { steps } = model.work();
    // All slots are taken.
    const without = model.createState();
    const alone: string[] = [];
    for (const samples of speech) alone.push(await textOf(without, samples, pass));
    expect(model.work().steps).toEqual(steps);
    expect(together).toEqual(alone);
    const [first] = passes;
    const wordsOf = (state: WhisperState) => wordsIn(state, speech[0] as Float32Array, first ?? options);
    expect(await wordsOf(states[0] as WhisperState)).toBe(await withState(openBase(), wordsOf));
    for (const state of [...states, without]) state.dispose();
    model.dispose();
  });

  test.each([0, 1, 2])("do not depend on each other, whenever they begin and end (pass %d)", async (index) => {
    const pass = passes[index] as TranscribeOptions;
    const found: string[][] = [];
    // Random weights end a greedy text late.
    const few = windows.slice(0, pass.beamSize === 1 ? 2 : 3);
    // Fewer slots than windows, and more.
    for (const slots of [2, 8]) {
      const model = openSmall(slots);
      const before = model.work();
      found.push(
        await Promise.all(
          few.map(async (samples, part) => {
            await Bun.sleep(slots * part * 3);
            return await withState(model, (state) => textOf(state, samples, pass));
          }),
        ),
      );
      const { steps, windows: encoded, passes: read } = model.work();
      // A window without a slot is transcribed alone.
      const least = Math.min(slots, few.length);
      expect(encoded.items - before.windows.items).toBeGreaterThanOrEqual(least);
      // Prompts that are longer than a step, and aligned texts.
      expect(read.items - before.passes.items).toBeGreaterThanOrEqual(least);
      expect(steps.items - before.steps.items).toBeGreaterThan(steps.evaluated - before.steps.evaluated);
      // One for each number of slots, rows and positions that occurs; see shapes in slots.cpp.
      expect(steps.graphs).toBeLessThan(20);
      model.dispose();
    }
    expect(found[0]?.every((text) => text.length > 0)).toBe(true);
    expect(found[1]).toEqual(found[0] as string[]);
  });

  test("use the same graph again, with no node changed", async () => {
    const model = openSmall(2);
    const nodes: string[] = [];
    const graphs: number[] = [];
    const built: number[] = [];
    const steps: number[] = [];
    const state = model.createState();
    for (let time = 0; time < 3; time++) {
      await textOf(state, windows[0] as Float32Array, passes[0] as TranscribeOptions);
      const work = model.work();
      nodes.push(work.stepNodes);
      graphs.push(work.graphs - work.windows.evaluated - work.steps.evaluated - work.passes.evaluated);
      built.push(work.windows.graphs + work.steps.graphs + work.passes.graphs);
      steps.push(work.steps.evaluated);
    }
    expect(new Set(steps).size).toBe(3);
    expect(new Set(nodes).size).toBe(1);
    expect(new Set(built).size).toBe(1);
    // Windows, steps, prompts and alignments: nothing is evaluated in a graph that is built for it.
    expect(graphs).toEqual([0, 0, 0]);
    state.dispose();
    model.dispose();
  });

  test("are neither affected by others that are aborted or disposed of, nor waited for by them", async () => {
    const model = openSmall(4);
    const pass = passes[0] as TranscribeOptions;
    const [one, two, ...rest] = windows.slice(0, 4);
    const alone: string[] = [];
    for (const samples of rest) alone.push(await withState(model, (state) => textOf(state, samples, pass)));
    const [aborted, disposed] = [model.createState(), model.createState()];
    const before = model.work().steps.evaluated;
    const others = rest.map((samples) => withState(model, (state) => textOf(state, samples, pass)));
    let completed = 0;
    for (const other of others) other.then(() => completed++);
    const ended = [aborted.transcribe(one as Float32Array, pass), disposed.transcribe(two as Float32Array, pass)];
    while (model.work().steps.evaluated < before + 5) await Bun.sleep(1);
    aborted.abort();
    disposed.dispose();
    for (const result of await Promise.all(ended)) expect(result).toEqual({ aborted: true, segments: [] });
    expect(completed).toBe(0);
    aborted.dispose();
    expect(await Promise.all(others)).toEqual(alone);
    model.dispose();
  });

  test("of more states than slots are decoded alone, and languages are detected with and without a slot", async () => {
    const model = openSmall(2);
    const states = [0, 1, 2].map(() => model.createState());
    const [samples = new Float32Array()] = windows;
    const texts: string[] = [];
    const languages: string[] = [];
    for (const state of states) {
      texts.push(await textOf(state, samples, passes[0] as TranscribeOptions));
      languages.push(JSON.stringify(await state.detectLanguage(samples, 1)));
      texts.push(await textOf(state, samples, passes[0] as TranscribeOptions));
    }
    expect(new Set(texts).size).toBe(1);
    expect(new Set(languages).size).toBe(1);
    for (const state of states) state.dispose();
    model.dispose();
  });
});

async function withState<T>(model: WhisperModel, job: (state: WhisperState) => Promise<T>): Promise<T> {
  const state = model.createState();
  try {
    return await job(state);
  } finally {
    state.dispose();
  }
}

async function wordsIn(state: WhisperState, samples: Float32Array, how: TranscribeOptions): Promise<string> {
  const { segments } = await state.transcribe(samples, how);
  return segments.map(({ text }) => text).join("");
}

/** Returns the words with their times. */
async function textOf(state: WhisperState, samples: Float32Array, how: TranscribeOptions): Promise<string> {
  const { segments } = await state.transcribe(samples, how);
  const wordOf = ({ text, startSeconds }: { readonly text: string; readonly startSeconds: number }) =>
    `${text}@${startSeconds.toFixed(2)}`;
  return segments.map(({ text, words }) => `${text} ${words.map(wordOf).join(" ")}`).join("");
}
