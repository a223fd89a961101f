import { availableParallelism } from "node:os";
import { loadWhisper, rateCpuLibrary, type WhisperModel } from "../whisper/index.ts";

/** Half a second at 16 kHz. */
const sampleCount = 8_000;
/** Encoder positions: enough to go through every kernel, and quick with large models too. */
const audioContext = 256;

/**
 * The self-test's side that may crash; it runs in a process of its own.
 *
 * `score <directory> <library>` prints ggml's rating of the variant for this CPU; `run <directory> <library> <model>`
 * computes a little with the real model and prints "works". Anything else on the way out is a failure, whose message
 * goes to stderr.
 */
export async function runSelfTest(args: readonly string[]): Promise<void> {
  const [mode, nativeDirectory = "", library = "", model = ""] = args;
  try {
    if (mode === "score") {
      console.log(rateCpuLibrary(nativeDirectory, library));
    } else if (mode === "run") {
      await computeWith(nativeDirectory, library, model);
      console.log("works");
    } else {
      throw new Error(`the self-test knows no "${mode ?? ""}"`);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

async function computeWith(nativeDirectory: string, library: string, modelPath: string): Promise<void> {
  const runtime = loadWhisper({ nativeDirectory, cpuLibrary: library, gpu: false });
  const model = runtime.openModel(modelPath, { useGpu: false, flashAttention: true, wordTimes: true });
  try {
    await checkNumbers(model);
  } finally {
    model.dispose();
  }
}

/** A variant that computes nonsense is as useless as one that crashes: what comes out must be probabilities. */
async function checkNumbers(model: WhisperModel): Promise<void> {
  const threads = availableParallelism();
  const state = model.createState();
  try {
    const samples = testSignal();
    const language = model.languages[0] ?? "en";
    const options = { language, threads, beamSize: 1, temperatureIncrement: 0, audioContext };
    const { segments } = await state.transcribe(samples, options);
    const numbers = segments.flatMap((segment) => [segment.averageLogProbability, segment.noSpeechProbability]);
    if (model.multilingual) {
      numbers.push((await state.detectLanguage(samples, threads)).probability);
    }
    if (!numbers.every(Number.isFinite)) {
      throw new Error("it computes numbers that are none");
    }
  } finally {
    state.dispose();
  }
}

/** A rising tone, the same on each run. */
function testSignal(): Float32Array {
  return Float32Array.from({ length: sampleCount }, (_, i) => 0.3 * Math.sin(2 * Math.PI * (0.01 + 2e-6 * i) * i));
}
