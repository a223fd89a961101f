import { availableParallelism } from "node:os";
import type { WhisperModel, WhisperRuntime } from "../recognizer/whisper/index.ts";
import type { Timing } from "./self-test-answers.ts";

/** Half a second at 16 kHz. */
const sampleCount = 8_000;
/** Encoder positions: enough to run every kernel, and fast with large models too. */
const audioContext = 256;

/**
 * Transcribes a short signal with the real model and returns the time without loading the model.
 * @throws if it fails or its output is invalid
 */
export async function computeWithWhisper(whisper: WhisperRuntime, modelPath: string): Promise<Timing> {
  const model = whisper.openModel(modelPath, { useGpu: false, flashAttention: true, wordTimes: true });
  try {
    const start = performance.now();
    await checkNumbers(model);
    return { seconds: (performance.now() - start) / 1000 };
  } finally {
    model.dispose();
  }
}

/**
 * Checks that the output consists of finite numbers. A device that outputs nonsense is as useless as one that crashes.
 */
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

/** Returns a rising tone, the same in every run. */
function testSignal(): Float32Array {
  return Float32Array.from({ length: sampleCount }, (_, i) => 0.3 * Math.sin(2 * Math.PI * (0.01 + 2e-6 * i) * i));
}
