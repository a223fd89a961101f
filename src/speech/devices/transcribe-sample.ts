import { availableParallelism } from "node:os";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { WhisperModel, WhisperRuntime } from "../recognizer/whisper/index.ts";
import { readSample } from "./read-sample.ts";
import type { Hearing } from "./self-test-answers.ts";

/**
 * Length of the sample that is encoded and transcribed: a third of the encoder's window. The largest models take
 * seconds for it on a CPU.
 */
const heardSeconds = 10;
/** Samples per encoder position: 20 ms. */
const samplesPerPosition = 320;

/**
 * Transcribes an English sample twice with the real model and measures the second run. In the first run, GPU drivers
 * compile their kernels.
 * @param pcmPath 16 kHz mono signed 16-bit samples
 * @throws if it fails
 */
export async function transcribeSample(
  whisper: WhisperRuntime,
  modelPath: string,
  pcmPath: string,
  useGpu: boolean,
): Promise<Hearing> {
  const samples = await readSample(pcmPath, heardSeconds * SAMPLE_RATE);
  const model = whisper.openModel(modelPath, { useGpu, flashAttention: true, wordTimes: true });
  try {
    await hear(model, samples);
    const start = performance.now();
    const words = await hear(model, samples);
    return { seconds: (performance.now() - start) / 1000, words };
  } finally {
    model.dispose();
  }
}

async function hear(model: WhisperModel, samples: Float32Array): Promise<string[]> {
  const state = model.createState();
  try {
    const audioContext = Math.ceil(samples.length / samplesPerPosition) + 1;
    const how = { language: "en", threads: availableParallelism(), beamSize: 1, temperatureIncrement: 0, audioContext };
    const { segments } = await state.transcribe(samples, how);
    const text = segments.map((segment) => segment.text).join(" ");
    return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  } finally {
    state.dispose();
  }
}
