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
  /** Time limit of a self-test. */
  readonly timeoutMilliseconds?: number;
}

/**
 * Drivers compile a hundred small kernels at first use. A driver that hangs delays the server by this time for each
 * model.
 */
const defaultTimeoutMilliseconds = 120_000;
/**
 * Maximum difference between the GPU's results and the CPU's results in floats. In production the CPU rounds to bytes,
 * which changes probabilities by twice as much on average. It changes embeddings by ten times as much. Mesa's software
 * device deviates by a millionth, nonsense by 0.1 and more.
 */
const mostApart: Readonly<Record<SpeakerPart, number>> = { segmentation: 0.0005, embedding: 0.0005 };
/** Version of the self-test; increase it with every change of the test or of the model for GPUs. */
const testVersion = 1;

/**
 * Runs one of the diarization models on a GPU in a separate process. The GPU passes if its results match the CPU's and
 * it is faster.
 * @throws only the signal's reason
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

/** Returns the key of a verdict on a model on the GPU: a hash of CPU, GPUs, drivers, model file and ONNX Runtime. */
export async function speakerVerdictKey(options: SpeakerGpuOptions, part: SpeakerPart): Promise<string> {
  const files = [options[`${part}Model`], onnxLibraryOf(options.onnxBinding)];
  const known = await Promise.all(files.map((path) => stat(path).then(({ size, mtimeMs }) => [path, size, mtimeMs])));
  const about = JSON.stringify([testVersion, part, cpuIdentity(), gpuIdentity(), known]);
  return createHash("sha256").update(about).digest("hex").slice(0, 32);
}
