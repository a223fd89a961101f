import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { checkoutFiles } from "../../../../src/program/layout.ts";
import { loadGgml, onnxLibraryOf } from "../../../../src/runtimes/index.ts";
import type { EncoderOptions } from "../../../../src/speech/recognizer/index.ts";
import type { WhisperAddon } from "../../../../src/speech/recognizer/whisper/addon.ts";
import type { EncoderForm } from "../../../../src/speech/recognizer/whisper/encoder/encoder-graph.ts";
import { makeEncoder } from "../../../../src/speech/recognizer/whisper/encoder/make-encoder.ts";
import type { WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, canTranscribe, nativeDirectory, openBase, readSamples, threads } from "../../../support/whisper.ts";

const jfk = "single/en-jfk.flac";
const german = "single/de-fleurs-004.ogg";
const how = { language: "en", threads, beamSize: 1, temperatureIncrement: 0, withoutTimestamps: true };
const canRun = canTranscribe("encoding", jfk, german);
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

async function textOf(state: WhisperState, samples: Float32Array): Promise<string> {
  const { segments } = await state.transcribe(samples, how);
  return segments.map(({ text }) => text).join("");
}

/** Returns the text with a state of its own, which uses the model's own encoder. */
async function ownTextOf(samples: Float32Array, { asksFirst = false } = {}): Promise<string> {
  const state = openBase().createState();
  try {
    if (asksFirst) await state.detectLanguage(samples, threads);
    return await textOf(state, samples);
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
  /** A state of each form, because it takes long to make and to load an encoder. */
  const states = new Map<EncoderForm, WhisperState>();
  const stateOf = (form: EncoderForm) => states.get(form) ?? ownState;
  beforeAll(async () => {
    for (const form of forms) states.set(form, openBase().createState(await encoderOf(form)));
    [samples, other] = [await readSamples(jfk), await readSamples(german)];
    ownState = openBase().createState();
    await ownState.detectLanguage(samples, threads);
    own = { text: await ownTextOf(samples), encoding: await ownState.encode(samples, threads) };
  }, 60_000);
  afterAll(() => {
    for (const state of [ownState, ...states.values()]) state?.dispose();
  });

  test.each(forms)(
    "encodes nearly the same in %s, and not from the cache of the model's own encoder",
    async (form) => {
      await ownState.detectLanguage(samples, threads);
      const [expected, output] = [own.encoding, await stateOf(form).encode(samples, threads)];
      expect(output).toHaveLength(expected.length);
      // Padding is not compared: our operators may compute only some of its positions.
      const spoken = (samples.length / samplesPerPosition) * (expected.length / positions);
      const error = errorOf(output.subarray(0, spoken), expected.subarray(0, spoken));
      expect(error).toBeGreaterThan(0);
      expect(error).toBeLessThan(0.2);
    },
    60_000,
  );

  test("encodes speech nearly the same in all forms, whatever the length of the padding after it", async () => {
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
  }, 120_000);

  test("gives the same transcript after a language detection on the same window", async () => {
    expect(await ownTextOf(samples, { asksFirst: true })).toBe(own.text);
    const asking = openBase().createState();
    await asking.detectLanguage(samples, threads);
    await asking.detectLanguage(other, threads);
    asking.dispose();
    expect(await ownTextOf(samples)).toBe(own.text);
    expect(await ownTextOf(other)).not.toBe(own.text);
  }, 60_000);

  // The forms with operators of our own, where the processor has them.
  test.each(fastForms.length > 0 ? fastForms : forms)(
    "says of two windows at once what it says of each alone, with the encoder in ONNX form in %s",
    async (form) => {
      const [one, two] = [stateOf(form), openBase().createState(await encoderOf(form))];
      const both = await Promise.all([textOf(one, samples), textOf(two, other)]);
      // Each state gets the other window, so that nothing can come from the call before.
      const alone = [await textOf(two, samples), await textOf(one, other)];
      two.dispose();
      expect(alone).toEqual(both);
      expect(alone[0]).toContain("ask not what your country can do for you");
    },
    60_000,
  );

  test("aborts in the encoder in ONNX form, which afterwards gives the text of the model's own", async () => {
    const state = stateOf("float");
    const running = state.transcribe(samples, how);
    state.abort();
    expect((await running).aborted).toBe(true);
    expect(own.text).toContain("ask not what your country can do for you");
    // The same numbers but for rounding, as with the model's own encoder.
    expect(await textOf(state, samples)).toBe(own.text);
  }, 60_000);

  test("refuses a file that is not an encoder", () => {
    const encoder = { library: onnxLibraryOf(checkoutFiles.onnxBinding), path: basePath, threads };
    expect(() => openBase().createState(encoder)).toThrow("ONNX Runtime");
  }, 60_000);
});
