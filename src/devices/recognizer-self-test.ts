import { usableProcessors } from "../machine/index.ts";
import type { GgmlRuntime } from "../runtimes/index.ts";
import { familyOf, type RecognizerModel } from "../speech/index.ts";
import { SAMPLE_RATE } from "../timeline/index.ts";
import type { SelfTestAnswer } from "./self-tests.ts";

/** Half a second at 16 kHz. */
const TEST_SIGNAL_SAMPLES = 8000;
/** Length of the transcribed sample: a third of the model's window. The largest models take seconds for it on a CPU. */
const SAMPLE_SECONDS = 10;

/** Computes a short signal with the model on the CPU. @throws {Error} if it fails or its numbers are not finite */
export async function computeWithModel(
  runtime: GgmlRuntime,
  modelPath: string,
): Promise<SelfTestAnswer<"computeOnCpu">> {
  const family = familyOf(modelPath);
  const knowsLanguages = family.capabilities.detectsLanguage && family.readLanguages(modelPath).length > 1;
  const model = family.open(runtime, modelPath, false);
  const threads = usableProcessors();
  const recognizer = model.createRecognizer();
  try {
    const samples = testSignal();
    const start = performance.now();
    await recognizer.transcribeOnce(samples, { threads, isShort: true });
    if (knowsLanguages) {
      const probabilities = await recognizer.detectLanguage(samples, threads);
      if (!Object.values(probabilities).every(Number.isFinite))
        throw new Error("it computes numbers that are not finite");
    }
    return { seconds: (performance.now() - start) / 1000, instructions: runtime.addon.instructions() };
  } finally {
    recognizer.dispose();
    model.dispose();
  }
}

/** Returns a rising tone, the same in every run. */
function testSignal(): Float32Array {
  return Float32Array.from(
    { length: TEST_SIGNAL_SAMPLES },
    (_, i) => 0.3 * Math.sin(2 * Math.PI * (0.01 + 2e-6 * i) * i),
  );
}

/**
 * Number of passes at once in the self-test of a GPU, which never runs fewer operations. One pass leaves most of a large
 * GPU idle: next to a fast CPU, it would look slower than it is.
 */
const PASSES_ON_GPU = 2;

/**
 * Transcribes a sample with the model and measures how long one more pass takes; GPU drivers compile their kernels in the
 * first. On a GPU it is the share of several passes at once. A CPU's pass uses all threads.
 * @param pcmPath 16 kHz mono signed 16-bit samples
 */
export async function transcribeSample(
  runtime: GgmlRuntime,
  modelPath: string,
  pcmPath: string,
  useGpu: boolean,
): Promise<SelfTestAnswer<"transcribeSample">> {
  const samples = await readSample(pcmPath);
  const model = familyOf(modelPath).open(runtime, modelPath, useGpu);
  try {
    await wordsOf(model, samples);
    const start = performance.now();
    const passes = Array.from({ length: useGpu ? PASSES_ON_GPU : 1 }, () => wordsOf(model, samples));
    const [words = []] = await Promise.all(passes);
    return { seconds: (performance.now() - start) / 1000 / passes.length, words };
  } finally {
    model.dispose();
  }
}

async function wordsOf(model: RecognizerModel, samples: Float32Array): Promise<string[]> {
  const recognizer = model.createRecognizer();
  try {
    const text = await recognizer.transcribeOnce(samples, { threads: usableProcessors(), isShort: true });
    return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  } finally {
    recognizer.dispose();
  }
}

/** Reads the beginning of a raw file of 16-bit samples as numbers between -1 and 1. */
async function readSample(path: string): Promise<Float32Array> {
  const bytes = await Bun.file(path).arrayBuffer();
  const count = Math.min(Math.floor(bytes.byteLength / 2), SAMPLE_SECONDS * SAMPLE_RATE);
  return Float32Array.from(new Int16Array(bytes, 0, count), (sample) => sample / 32_768);
}
