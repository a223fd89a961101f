import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RandomModelOptions, tinyModel } from "../../../../scripts/support/parakeet/random-model.ts";
import type { NativeState, NativeTranscript } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { canTranscribe, readSamples } from "../whisper/support.ts";
import { referenceModel, transcribeByReference } from "./reference/index.ts";
import { openAddon, writeModel } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(120_000);

const isReady = canTranscribe("Parakeet's own encoder", "formats/jfk.flac");

const quantized = { ...tinyModel, weightForm: 7 };
/** Forms of weights, and shapes that do not fill the widths in which the encoder computes. */
const models: [string, RandomModelOptions][] = [
  ["q5_0", { ...tinyModel, weightForm: 8 }],
  ["q4_0", { ...tinyModel, weightForm: 2 }],
  ["three heads of 32, 48 channels and a kernel of 5", { ...quantized, width: 96, heads: 3, channels: 48, kernel: 5 }],
  ["heads of 80 and 64 mels", { ...quantized, width: 160, heads: 2, channels: 80, mels: 64 }],
  ["one channel too few for it, which ggml computes", { ...quantized, channels: 8 }],
];

describe.skipIf(!isReady)("Parakeet's encoder of quantized models", () => {
  /** Opens a model with random weights and one state of it. */
  const open = (options: RandomModelOptions) => {
    const directory = temporaryDirectory();
    const addon = openAddon();
    const model = new addon.ParakeetModel(writeModel(directory.path, options), { useGpu: false });
    const states: NativeState[] = [];
    const createState = () => {
      const state = new addon.ParakeetState(model);
      states.push(state);
      return state;
    };
    const close = () => {
      for (const state of states) state.dispose();
      model.dispose();
      directory[Symbol.dispose]();
    };
    return { createState, [Symbol.dispose]: close };
  };
  const speechOf = async (seconds: number) => {
    const speech = await readSamples("formats/jfk.flac");
    return Float32Array.from({ length: seconds * 16_000 }, (_, i) => speech[i % speech.length] ?? 0);
  };
  const stepsOf = ({ tokens }: NativeTranscript) => tokens.map(({ id, frame, duration }) => [id, frame, duration]);

  test.each(models)("computes the reference's numbers with 8 bits: %s", async (_name, options) => {
    using model = open(options);
    const samples = (await speechOf(4)).slice(0, 54_321);
    const encoded = await model.createState().encode(samples, 2);
    const { values } = transcribeByReference(referenceModel(options), samples).encoded;
    const errors = encoded.map((value, i) => Math.abs(value - (values[i] ?? 0)));
    expect(encoded.length).toBe(values.length);
    expect(Math.max(...errors)).toBeLessThan(0.1);
  });

  test("gives five states at once the same numbers as one alone, whatever the window's length and threads", async () => {
    using model = open(quantized);
    const windows = await Promise.all([1, 30, 7, 50, 21].map(speechOf));
    const alone = model.createState();
    const expected: Float32Array[] = [];
    for (const window of windows) expected.push(await alone.encode(window, 1));
    expect(expected.map(({ length }) => length / tinyModel.width)).toEqual([13, 375, 88, 625, 263]);
    using other = open(quantized);
    const states = windows.map(() => other.createState());
    for (const threads of [1, 3]) {
      const all = await Promise.all(windows.map((window, i) => states[i]?.encode(window, threads)));
      for (const [i, encoded] of all.entries()) expect(encoded).toEqual(expected[i] ?? new Float32Array());
    }
  });

  test("ends in the middle of a window when it is aborted, and the state can be used again", async () => {
    using model = open({ ...quantized, width: 256, layers: 24, channels: 64 });
    const state = model.createState();
    const samples = await speechOf(50);
    const whole = await state.transcribe(samples, 1);
    const start = performance.now();
    await state.encode(samples, 1);
    const needed = performance.now() - start;
    let fastest = needed;
    // On a busy machine an attempt may take longer.
    for (let attempt = 0; attempt < 10 && fastest > needed / 2; attempt++) {
      const started = performance.now();
      const running = state.transcribe(samples, 1);
      await Bun.sleep(needed / 8);
      state.abort();
      expect(await running).toEqual({ aborted: true, tokens: [] });
      fastest = Math.min(fastest, performance.now() - started);
    }
    expect(fastest).toBeLessThan(needed / 2);
    expect(stepsOf(await state.transcribe(samples, 1))).toEqual(stepsOf(whole));
  });
});
