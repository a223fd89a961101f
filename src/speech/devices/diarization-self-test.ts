import { availableParallelism } from "node:os";
import { SAMPLE_RATE, WINDOW_SAMPLES, windowSample } from "../../timeline/index.ts";
import {
  type DiarizationModels,
  embed,
  embedAll,
  openDiarizationModels,
  type SpeakerModelOptions,
  segment,
  segmentGrid,
} from "../diarization/index.ts";
import { readSample } from "./recognizer-self-test.ts";
import type { SelfTestAnswer, SelfTestParams } from "./self-tests.ts";

/** Length of the embedding model's test input, in samples (1.6 s). */
const VOICE_SAMPLES = 25_600;
/** Half of a block's windows: the batch size on a GPU. */
const WINDOWS = 40;
/** Embedded speech spans that resemble half a minute of talk: half have one length, a fifth the minimum length. */
const spans: readonly (readonly [seconds: number, count: number])[] = [
  [1.52, 8],
  [0.8, 4],
  ...Array.from({ length: 6 }, (_, at) => [0.85 + 0.2 * at, 1] as const),
];

/** Runs both diarization models on noise. @throws if a model fails or its output is invalid */
export async function computeDiarization(
  paths: SelfTestParams<"computeDiarization">,
): Promise<SelfTestAnswer<"computeDiarization">> {
  const models = await openDiarizationModels({ ...paths, threads: availableParallelism() });
  try {
    const start = performance.now();
    const activity = await segment(models, noise(WINDOW_SAMPLES));
    if (!activity.every((share) => share >= 0 && share <= 1)) {
      throw new Error("the segmentation model does not output probabilities");
    }
    const length = Math.hypot(...(await embed(models, noise(VOICE_SAMPLES))));
    if (!(Math.abs(length - 1) < 0.01)) throw new Error("the embedding model does not output unit vectors");
    return { seconds: (performance.now() - start) / 1000 };
  } finally {
    await models.dispose();
  }
}

/** Returns the same noise in every run: a linear congruential generator with the constants of Numerical Recipes. */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.1 * (state / 2 ** 31 - 1);
  });
}

/**
 * Runs one of the diarization models on the CPU and on a GPU with the same speech. Returns the time of each after all
 * kernels are compiled, and the error of the GPU's results. @throws if the GPU fails
 */
export async function compareDiarization({
  part,
  pcmPath,
  cpuThreads = availableParallelism(),
  ...paths
}: SelfTestParams<"compareDiarization">): Promise<SelfTestAnswer<"compareDiarization">> {
  const sound = await readSample(pcmPath);
  if (sound.length === 0) throw new Error("the sample is empty");
  const isSegmentation = part === "segmentation";
  const run = (device: Pick<SpeakerModelOptions, "onGpu" | "gpuProvider">) =>
    timed({ ...paths, threads: cpuThreads, ...device }, async (models) =>
      isSegmentation ? [await activityIn(models, sound)] : await voicesIn(models, sound),
    );
  const gpu = await run({ onGpu: [part] });
  const cpu = await run({});
  // The reference is not the CPU result above. On the CPU, the model rounds intermediate results to bytes, which
  // changes quiet voices considerably.
  const reference = await run({ onGpu: [part], gpuProvider: "cpu" });
  const error = (isSegmentation ? meanDifference : dissimilarity)(gpu.output, reference.output);
  return { seconds: gpu.seconds, cpuSeconds: cpu.seconds, error: Number.isFinite(error) ? error : Number.MAX_VALUE };
}

async function timed(
  options: SpeakerModelOptions,
  compute: (models: DiarizationModels) => Promise<readonly Float32Array[]>,
): Promise<{ seconds: number; output: readonly Float32Array[] }> {
  const models = await openDiarizationModels(options);
  try {
    await compute(models);
    const start = performance.now();
    const output = await compute(models);
    return { seconds: (performance.now() - start) / 1000, output };
  } finally {
    await models.dispose();
  }
}

async function activityIn(models: DiarizationModels, sound: Float32Array): Promise<Float32Array> {
  const samples = repeated(sound, 0, windowSample(WINDOWS - 1) + WINDOW_SAMPLES);
  return await segmentGrid(models, samples, WINDOWS);
}

async function voicesIn(models: DiarizationModels, sound: Float32Array): Promise<readonly Float32Array[]> {
  const lengths = spans.flatMap(([seconds, count]) => Array<number>(count).fill(Math.round(seconds * SAMPLE_RATE)));
  return await embedAll(
    models,
    lengths.map((length, at) => repeated(sound, at * SAMPLE_RATE, length)),
  );
}

/** Returns samples from a position in the sound, which repeats at its end. */
function repeated(sound: Float32Array, first: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => sound[(first + at) % sound.length] ?? 0);
}

function meanDifference([found]: readonly Float32Array[], [expected]: readonly Float32Array[]): number {
  if (expected === undefined) return Number.NaN;
  const sum = expected.reduce((total, value, at) => total + Math.abs(value - (found?.[at] ?? Number.NaN)), 0);
  return sum / expected.length;
}

/** Returns 1 minus the lowest cosine similarity between a voice and its expected value. */
function dissimilarity(voices: readonly Float32Array[], expected: readonly Float32Array[]): number {
  const similarities = expected.map((voice, index) =>
    voice.reduce((total, value, at) => total + value * (voices[index]?.[at] ?? Number.NaN), 0),
  );
  return 1 - Math.min(...similarities);
}
