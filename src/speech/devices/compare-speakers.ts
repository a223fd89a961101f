import { availableParallelism } from "node:os";
import type { SpeakerPart } from "../../engine/index.ts";
import { SAMPLE_RATE, WINDOW_SAMPLES, windowSample } from "../../timeline/index.ts";
import {
  type DiarizationModels,
  embedAll,
  openDiarizationModels,
  type SpeakerModelOptions,
  segmentGrid,
} from "../diarization/index.ts";
import { readSample } from "./read-sample.ts";
import type { SpeakersAnswer } from "./self-test-answers.ts";

/** Half of a block's windows: the batch size on a GPU. */
const windows = 40;
/**
 * Lengths of the embedded speech spans, and the number of spans of each length. They resemble half a minute of talk.
 * Half of the spans have one length, a fifth have the minimum length, and nearly all others differ.
 */
const stretches: readonly (readonly [seconds: number, count: number])[] = [
  [1.52, 8],
  [0.8, 4],
  ...Array.from({ length: 6 }, (_, at) => [0.85 + 0.2 * at, 1] as const),
];

export interface SpeakersComparison {
  readonly onnxBinding: string;
  readonly segmentationPath: string;
  readonly embeddingPath: string;
  readonly part: SpeakerPart;
  /** Speech as 16 kHz mono signed 16-bit samples; repeated if more is needed. */
  readonly pcmPath: string;
}

/**
 * Runs one of the diarization models on the CPU and on a GPU with the same input. Returns the time of each after all
 * kernels are compiled, and the error of the GPU's results.
 * @throws if the GPU fails
 */
export async function compareSpeakers(comparison: SpeakersComparison): Promise<SpeakersAnswer> {
  const { part, pcmPath, ...paths } = comparison;
  const sound = await readSample(pcmPath);
  if (sound.length === 0) throw new Error("there is no sound in the sample");
  const compute = part === "segmentation" ? activityIn : voicesIn;
  const times = async (how: How) =>
    timed({ ...paths, threads: availableParallelism(), ...how }, (models) => compute(models, sound));
  const gpu = await times({ onGpu: [part] });
  const cpu = await times({});
  // The reference is not the CPU result above. On the CPU, the model rounds intermediate results to bytes, which
  // changes quiet voices considerably.
  const same = await times({ onGpu: [part], gpuProvider: "cpu" });
  const apart = (part === "segmentation" ? meanDifference : unlikeness)(gpu.output, same.output);
  return { seconds: gpu.seconds, cpuSeconds: cpu.seconds, apart: Number.isFinite(apart) ? apart : Number.MAX_VALUE };
}

type How = Pick<SpeakerModelOptions, "onGpu" | "gpuProvider">;

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

async function activityIn(models: DiarizationModels, sound: Float32Array): Promise<readonly Float32Array[]> {
  const samples = part(sound, 0, windowSample(windows - 1) + WINDOW_SAMPLES);
  return [await segmentGrid(models, samples, windows)];
}

async function voicesIn(models: DiarizationModels, sound: Float32Array): Promise<readonly Float32Array[]> {
  const lengths = stretches.flatMap(([seconds, count]) => Array<number>(count).fill(Math.round(seconds * SAMPLE_RATE)));
  return await embedAll(
    models,
    lengths.map((length, at) => part(sound, at * SAMPLE_RATE, length)),
  );
}

/** Returns samples from a position in the sound, which repeats at its end. */
function part(sound: Float32Array, first: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => sound[(first + at) % sound.length] ?? 0);
}

function meanDifference(
  [probabilities = nothing]: readonly Float32Array[],
  [expected = nothing]: readonly Float32Array[],
) {
  const sum = expected.reduce((total, value, at) => total + Math.abs(value - (probabilities[at] ?? Number.NaN)), 0);
  return sum / expected.length;
}

/** Returns 1 minus the lowest cosine similarity between a voice and its expected value. */
function unlikeness(voices: readonly Float32Array[], expected: readonly Float32Array[]): number {
  const likeness = expected.map((voice, index) =>
    voice.reduce((total, value, at) => total + value * (voices[index]?.[at] ?? Number.NaN), 0),
  );
  return 1 - Math.min(...likeness);
}

const nothing = new Float32Array();
