import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { SpeakerPart } from "../../engine/index.ts";
import { onnxLibraryOf } from "../diarization/index.ts";
import { askSelfTest } from "./ask-self-test.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import { type GpuTrial, judgeGpu, type SampleOptions, slowness, tryWithSample } from "./gpu-trial.ts";
import { speakersAnswerSchema } from "./self-test-answers.ts";
import type { SpeakerTrialOptions } from "./try-onnx.ts";

export interface SpeakerGpuOptions extends SpeakerTrialOptions, SampleOptions {
  /** How long a trial may take. */
  readonly timeoutMilliseconds?: number;
}

/** Drivers compile a hundred small kernels at first use. One that hangs delays the server by this much for each model. */
const defaultTimeoutMilliseconds = 120_000;
/**
 * How far the GPU's answers may be from those that the CPU gives in floats. Rounding to bytes, as the CPU does at work, changes
 * probabilities by twice as much on average, and voices by ten times as much. Mesa's software device is off by a millionth,
 * nonsense by 0.1 and more.
 */
const mostApart: Readonly<Record<SpeakerPart, number>> = { segmentation: 0.0005, embedding: 0.0005 };
/** Raise it with every change of the test, or of the model that a GPU is given. */
const testVersion = 1;

/**
 * Has a GPU compute one of the models that tell speakers apart, in a process of its own: it has to give what the CPU gives,
 * and sooner. @throws only the signal's reason
 */
export function trySpeakerGpu(options: SpeakerGpuOptions, part: SpeakerPart): Promise<GpuTrial> {
  return tryWithSample(options, (sample) => compare(options, part, sample));
}

async function compare(options: SpeakerGpuOptions, part: SpeakerPart, sample: string): Promise<GpuTrial> {
  const { onnxBinding, segmentationModel, embeddingModel } = options;
  const args = ["speakers", onnxBinding, segmentationModel, embeddingModel, part, sample];
  const trial = await askSelfTest(
    { timeoutMilliseconds: defaultTimeoutMilliseconds, ...options },
    args,
    speakersAnswerSchema,
  );
  if (!trial.ok) return trial;
  const { seconds, cpuSeconds, apart } = trial.answer;
  const fault =
    apart > mostApart[part]
      ? `its answers are ${apart.toPrecision(2)} apart from the right ones`
      : slowness(seconds, cpuSeconds);
  return judgeGpu(fault, seconds, cpuSeconds);
}

/** What a verdict on a model on the GPU holds for: CPU, GPUs and drivers, the model's file and ONNX Runtime. */
export async function speakerVerdictKey(options: SpeakerGpuOptions, part: SpeakerPart): Promise<string> {
  const files = [options[`${part}Model`], onnxLibraryOf(options.onnxBinding)];
  const known = await Promise.all(files.map((path) => stat(path).then(({ size, mtimeMs }) => [path, size, mtimeMs])));
  const about = JSON.stringify([testVersion, part, cpuIdentity(), gpuIdentity(), known]);
  return createHash("sha256").update(about).digest("hex").slice(0, 32);
}
