import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { checkoutFiles } from "../../../../src/program/layout.ts";
import { onnxLibraryOf } from "../../../../src/speech/diarization/index.ts";
import { loadGgml } from "../../../../src/speech/ggml.ts";
import type { EncoderOptions } from "../../../../src/speech/recognizer/index.ts";
import type { WhisperAddon } from "../../../../src/speech/recognizer/whisper/addon.ts";
import type { EncoderForm } from "../../../../src/speech/recognizer/whisper/encoder/encoder-graph.ts";
import { makeEncoder } from "../../../../src/speech/recognizer/whisper/encoder/make-encoder.ts";
import type { WhisperModel, WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, canTranscribe, nativeDirectory, openBase, readSamples, threads } from "./support.ts";

const jfk = "single/en-jfk.flac";
const leopard = "single/de-leopard.flac";
const how = { language: "en", threads, beamSize: 1, temperatureIncrement: 0, withoutTimestamps: true };
const canRun = canTranscribe("encoding", jfk, leopard);
const fastForms = canRun ? (loadGgml({ nativeDirectory }).addon as WhisperAddon).encoderForms() : [];
/** All forms of the encoder that this processor can run. */
const forms: readonly EncoderForm[] = [...new Set<EncoderForm>(["float", ...fastForms])];
for (const form of ["bfloat16", "int8"] as const) {
  if (canRun && !forms.includes(form)) console.warn(`SKIPPED: encoding in ${form}, which this processor can't run`);
}
/** Positions of 20 ms each with `width` numbers. */
const samplesPerPosition = 320;
const positions = 1500;
const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

async function encoderOf(form: EncoderForm): Promise<EncoderOptions> {
  const path = await makeEncoder(basePath, form, join(directory.path, "encoders"));
  return { library: onnxLibraryOf(checkoutFiles.onnxBinding), path, threads };
}

interface Way {
  readonly encoder?: EncoderOptions;
  readonly asksFirst?: boolean;
}

async function textOf(model: WhisperModel, samples: Float32Array, { encoder, asksFirst = false }: Way = {}) {
  const state = model.createState(encoder);
  try {
    if (asksFirst) await state.detectLanguage(samples, threads);
    const { segments } = await state.transcribe(samples, how);
    return segments.map(({ text }) => text).join("");
  } finally {
    state.dispose();
  }
}

/** Returns the deviation of an output, relative to the size of what was expected. */
function errorOf(output: Float32Array, expected: Float32Array): number {
  const sizeOf = (values: Float32Array) => Math.sqrt(values.reduce((total, value) => total + value ** 2, 0));
  return sizeOf(expected.map((value, i) => value - (output[i] ?? 0))) / sizeOf(expected);
}

describe.skipIf(!canRun)("whisper", () => {
  let samples: Float32Array;
  let other: Float32Array;
  /** The text of the first recording with the model's own encoder, and its encoding. */
  let own: { readonly text: string; readonly encoding: Float32Array };
  let ownState: WhisperState;
  beforeAll(async () => {
    [samples, other] = [await readSamples(jfk), await readSamples(leopard)];
    ownState = openBase().createState();
    await ownState.detectLanguage(samples, threads);
    own = { text: await textOf(openBase(), samples), encoding: await ownState.encode(samples, threads) };
  }, 60_000);
  afterAll(() => ownState?.dispose());

  test.each(forms)(
    "encodes nearly the same in %s, and not from the cache of the model's own encoder",
    async (form) => {
      const state = openBase().createState(await encoderOf(form));
      await ownState.detectLanguage(samples, threads);
      const [expected, output] = [own.encoding, await state.encode(samples, threads)];
      expect(output).toHaveLength(expected.length);
      // Padding is not compared: our operators may compute only some of its positions.
      const spoken = (samples.length / samplesPerPosition) * (expected.length / positions);
      const error = errorOf(output.subarray(0, spoken), expected.subarray(0, spoken));
      expect(error).toBeGreaterThan(0);
      expect(error).toBeLessThan(0.2);
      state.dispose();
    },
    60_000,
  );

  test("encodes speech nearly the same in all forms, whatever the length of the padding after it", async () => {
    const states = new Map<EncoderForm, WhisperState>();
    for (const form of forms) states.set(form, openBase().createState(await encoderOf(form)));
    // The last window has so little padding that all of it is computed. The test before has a window of 11 s.
    for (const seconds of [2, 29.7]) {
      const speech = Float32Array.from({ length: seconds * 16_000 }, (_, i) => other[i % other.length] ?? 0);
      const outputs = new Map<EncoderForm, Float32Array>();
      for (const [form, state] of states) outputs.set(form, await state.encode(speech, threads));
      const expected = outputs.get("float") ?? new Float32Array(1);
      const spoken = (speech.length / samplesPerPosition) * (expected.length / positions);
      for (const output of outputs.values()) {
        expect(output.every(Number.isFinite)).toBe(true);
        expect(errorOf(output.subarray(0, spoken), expected.subarray(0, spoken))).toBeLessThan(0.2);
      }
    }
    for (const state of states.values()) state.dispose();
  }, 120_000);

  test("gives the same transcript after a language detection on the same window", async () => {
    const model = openBase();
    expect(await textOf(model, samples, { asksFirst: true })).toBe(own.text);
    const asking = model.createState();
    await asking.detectLanguage(samples, threads);
    await asking.detectLanguage(other, threads);
    asking.dispose();
    expect(await textOf(model, samples)).toBe(own.text);
    expect(await textOf(model, other)).not.toBe(own.text);
  }, 60_000);

  test.each(forms)(
    "says of two windows at once what it says of each alone, with the encoder in ONNX form in %s",
    async (form) => {
      const encoder = { ...(await encoderOf(form)), threads: 1 };
      const model = openBase();
      const both = [textOf(model, samples, { encoder }), textOf(model, other, { encoder })];
      const alone = [await textOf(model, samples, { encoder }), await textOf(model, other, { encoder })];
      expect(await Promise.all(both)).toEqual(alone);
      expect(alone[0]).toContain("ask not what your country can do for you");
      // The same numbers but for rounding, as with the model's own encoder.
      if (form === "float") expect(alone[0]).toBe(own.text);
    },
    60_000,
  );

  test("aborts in the encoder in ONNX form and can be used afterwards", async () => {
    const state = openBase().createState(await encoderOf("float"));
    const running = state.transcribe(samples, how);
    state.abort();
    expect((await running).aborted).toBe(true);
    const { aborted, segments } = await state.transcribe(samples, how);
    expect(aborted).toBe(false);
    expect(segments.length).toBeGreaterThan(0);
    state.dispose();
  }, 60_000);

  test("refuses a file that is not an encoder", () => {
    const encoder = { library: onnxLibraryOf(checkoutFiles.onnxBinding), path: basePath, threads };
    expect(() => openBase().createState(encoder)).toThrow("ONNX Runtime");
  }, 60_000);
});
