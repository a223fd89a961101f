import { availableParallelism } from "node:os";
import { basename, dirname } from "node:path";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import { onnxLibraryOf } from "../diarization/index.ts";
import {
  type EncoderOptions,
  ModelFileError,
  makeEncoder,
  validateModelFile,
  type WhisperRuntime,
} from "../recognizer/whisper/index.ts";
import type { EncoderAnswer } from "./self-test-answers.ts";

/** Each is encoded once, so that the first, which warms up, doesn't count. */
const windows = 2;
const windowSeconds = 30;

/**
 * Makes the ONNX form of a whisper model's encoder, unless it is there, and computes the same with it and with whisper.cpp's
 * own: how long a window takes either, and how far they are apart.
 * @param directory where encoders are kept
 */
export async function compareEncoders(
  whisper: WhisperRuntime,
  modelPath: string,
  onnxBinding: string,
  directory: string,
): Promise<EncoderAnswer> {
  const library = onnxLibraryOf(onnxBinding);
  const threads = availableParallelism();
  const form = whisper.encoderForm();
  // Native code computes with what is made of it.
  validateModelFile(modelPath);
  let path: string;
  try {
    path = await makeEncoder(modelPath, form, directory);
  } catch (error) {
    if (error instanceof ModelFileError) return { unsuitable: error.message };
    throw error;
  }
  const own = await encodeWith(whisper, modelPath, threads);
  const ours = await encodeWith(whisper, modelPath, threads, { library, path, threads });
  const name = basename(dirname(path));
  return { name, seconds: ours.seconds, ownSeconds: own.seconds, error: relativeError(ours.output, own.output) };
}

async function encodeWith(
  whisper: WhisperRuntime,
  modelPath: string,
  threads: number,
  encoder?: EncoderOptions,
): Promise<{ seconds: number; output: Float32Array }> {
  const model = whisper.openModel(modelPath, { useGpu: false, flashAttention: true, wordTimes: true });
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

/** Tones that come and go like syllables over a little noise, the same on each run. */
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

/** How far the numbers of `output` lie from those of `reference`, as a share of their size. */
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
