import { basename, dirname } from "node:path";
import { usableProcessors } from "../../../../machine/index.ts";
import type { GgmlRuntime } from "../../../../runtimes/index.ts";
import { SAMPLE_RATE } from "../../../../timeline/index.ts";
import { ModelFileError } from "../../ggml-file/index.ts";
import type { EncoderComparison, EncoderComparisonOptions, EncoderOptions } from "../../recognizer.ts";
import type { WhisperAddon } from "../addon.ts";
import { openModel } from "../model.ts";
import { validateModelFile } from "../model-file/index.ts";
import type { EncoderForm } from "./encoder-graph.ts";
import { makeEncoder } from "./make-encoder.ts";

/** Number of windows that are encoded. The fastest one counts, so that the warm-up has no effect. */
const windows = 2;
const windowSeconds = 30;

/**
 * Maximum relative error of products in 8 bits; beyond it, the encoder computes in bfloat16. Whisper base has 0.03 to 0.06 on
 * speech. Larger models have larger outliers.
 */
const MAX_BYTE_ERROR = 0.12;

/** The forms, for people. */
const formNames: Readonly<Record<EncoderForm, string>> = {
  float: "floats by ONNX Runtime",
  bfloat16: "bfloat16",
  int8: "8-bit products",
  "int8-signed": "8-bit products",
  "int7-signed": "7-bit products",
};

/**
 * Builds the ONNX form of an encoder unless it exists, and compares its time and output with whisper.cpp's own encoder. Tries
 * the fastest form first, and the next one if the model does not suit it.
 */
export async function compareEncoders({
  runtime,
  modelPath,
  library,
  directory,
}: EncoderComparisonOptions): Promise<EncoderComparison> {
  const threads = usableProcessors();
  // The ONNX form is made from this file and runs in native code, so the file is validated first.
  validateModelFile(modelPath);
  const own = await encodeWith(runtime, modelPath, threads);
  let result: EncoderComparison = { unsuitable: "this processor can run no form of it" };
  // The addon has the classes of all families; these are ours.
  for (const form of (runtime.addon as WhisperAddon).encoderForms()) {
    let path: string;
    try {
      path = await makeEncoder(modelPath, form, directory);
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error;
      result = { unsuitable: error.message };
      continue;
    }
    const ours = await encodeWith(runtime, modelPath, threads, { library, path, threads });
    const error = relativeError(ours.output, own.output);
    const name = basename(dirname(path));
    result = { name, form: formNames[form], seconds: ours.seconds, ownSeconds: own.seconds, error };
    if (!form.startsWith("int") || error <= MAX_BYTE_ERROR) break;
  }
  return result;
}

async function encodeWith(
  runtime: GgmlRuntime,
  modelPath: string,
  threads: number,
  encoder?: EncoderOptions,
): Promise<{ seconds: number; output: Float32Array }> {
  const model = openModel(runtime, modelPath, false);
  const state = model.createState(encoder);
  try {
    let output: Float32Array = new Float32Array(0);
    let seconds = Number.POSITIVE_INFINITY;
    for (let window = 0; window < windows; window++) {
      const samples = testSignal(window);
      const start = performance.now();
      output = await state.encode(samples, threads);
      seconds = Math.min(seconds, (performance.now() - start) / 1000);
    }
    return { seconds, output };
  } finally {
    state.dispose();
    model.dispose();
  }
}

/** Returns syllable-like tones over a little noise, the same in every run. */
function testSignal(window: number): Float32Array {
  let noise = window + 1;
  return Float32Array.from({ length: windowSeconds * SAMPLE_RATE }, (_, i) => {
    noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0;
    const seconds = i / SAMPLE_RATE;
    const loudness = Math.max(0, Math.sin(2 * Math.PI * (2 + 0.3 * window) * seconds));
    const pitch = 120 + 60 * Math.sin(seconds) + 10 * window;
    const voice = Math.sin(2 * Math.PI * pitch * seconds) + 0.5 * Math.sin(6 * Math.PI * pitch * seconds);
    return 0.2 * loudness * voice + 0.002 * (noise / 2 ** 31 - 1);
  });
}

/** Returns the root-mean-square difference between `output` and `reference`, relative to the size of `reference`. */
function relativeError(output: Float32Array, reference: Float32Array): number {
  if (output.length !== reference.length || reference.length === 0) return Number.MAX_VALUE;
  let difference = 0;
  let size = 0;
  for (const [index, value] of reference.entries()) {
    difference += (value - (output[index] ?? 0)) ** 2;
    size += value ** 2;
  }
  const error = Math.sqrt(difference / size);
  return Number.isFinite(error) ? error : Number.MAX_VALUE;
}
