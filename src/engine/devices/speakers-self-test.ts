import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { messageOf } from "../../wording/index.ts";
import { onnxLibraryOf, type SpeakerPart } from "../diarization/index.ts";
import { attempt } from "./attempt.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import type { GpuTrial } from "./gpu-self-test.ts";
import { readAnswer, speakersAnswerSchema } from "./self-test-answers.ts";
import type { SpeakerTrialOptions } from "./try-devices.ts";

export interface SpeakerGpuOptions extends SpeakerTrialOptions {
  /** Calls back with the path of a sample of speech: 16 kHz mono signed 16-bit. Only asked where something is tried. */
  readonly withSample: <T>(use: (pcmPath: string) => Promise<T>) => Promise<T>;
  /** How long a trial may take. */
  readonly timeoutMilliseconds?: number;
}

/** Drivers compile a hundred small kernels at first use. One that hangs keeps the server from its work for so long, twice. */
const defaultTimeoutMilliseconds = 120_000;
/**
 * What the GPU's answers may be apart from those that the CPU gives in floats: half of what rounding to bytes, as the CPU does
 * it at work, moves probabilities by on average, and a tenth of what it moves voices by. Mesa's software device is a
 * millionth apart; nonsense is by 0.1 and more.
 */
const mostApart: Readonly<Record<SpeakerPart, number>> = { segmentation: 0.0005, embedding: 0.0005 };
/** To be raised with every change of the test, or of what a GPU is given. */
const testVersion = 1;

/**
 * Has a GPU compute one of the models that tell speakers apart, in a process of its own: it has to give what the CPU gives,
 * and sooner. @throws only the signal's reason
 */
export async function trySpeakerGpu(options: SpeakerGpuOptions, part: SpeakerPart): Promise<GpuTrial> {
  try {
    return await options.withSample((sample) => compare(options, part, sample));
  } catch (error) {
    options.signal?.throwIfAborted();
    // There is the CPU, whatever keeps the GPU from being tried.
    return { ok: false, reason: messageOf(error), lasting: false, late: false };
  }
}

async function compare(options: SpeakerGpuOptions, part: SpeakerPart, sample: string): Promise<GpuTrial> {
  const { command, onnxBinding, segmentationModel, embeddingModel, signal } = options;
  const { timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
  const line = [...command, "speakers", onnxBinding, segmentationModel, embeddingModel, part, sample];
  const outcome = await attempt(line, { timeoutMilliseconds, signal });
  if (!outcome.ok) return outcome;
  const { seconds, cpuSeconds, apart } = readAnswer(speakersAnswerSchema, outcome.output);
  const fault =
    apart > mostApart[part]
      ? `its answers are ${apart.toPrecision(2)} apart from the right ones`
      : seconds < cpuSeconds
        ? null
        : `it is no faster than the CPU: ${seconds.toFixed(2)} s against ${cpuSeconds.toFixed(2)} s`;
  return fault === null ? { ok: true, seconds, cpuSeconds } : { ok: false, reason: fault, lasting: true, late: false };
}

/** What a verdict on a model on the GPU holds for: CPU, GPUs and drivers, the model's file and ONNX Runtime. */
export async function speakerVerdictKey(options: SpeakerGpuOptions, part: SpeakerPart): Promise<string> {
  const files = [options[`${part}Model`], onnxLibraryOf(options.onnxBinding)];
  const known = await Promise.all(files.map((path) => stat(path).then(({ size, mtimeMs }) => [path, size, mtimeMs])));
  const about = JSON.stringify([testVersion, part, cpuIdentity(), gpuIdentity(), known]);
  return createHash("sha256").update(about).digest("hex").slice(0, 32);
}
