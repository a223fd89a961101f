import { cpuShares } from "../engine/index.ts";
import { laneBytes, type Tuning } from "./lane-shares.ts";
import { speakerWorkers } from "./speaker-workers.ts";
import { gpuSpeedOf } from "./tunings.ts";

/** Memory of the server, and of a worker without the recognizer's weights: runtime, speaker models, working memory. */
const SERVER_BYTES = 250e6;
const WORKER_BYTES = 350e6;
/** Memory of one ffmpeg while it decodes. */
const DECODER_BYTES = 60e6;

/** What the memory of a server depends on. */
export interface MemoryUse {
  /** Size of the speech model's file. */
  readonly modelBytes: number;
  /** Number of threads for all operations. */
  readonly threads: number;
  /** Operations at once of each device; 0: as many as without a setting and a measurement. */
  readonly lanes: number;
  /** Number of GPUs, each of which has a worker; 0: one worker computes on the CPU. */
  readonly gpus: number;
  /** Measurements of the GPUs, on whose speed the number of speaker workers depends. */
  readonly tunings: readonly Tuning[];
  /** Recordings that are processed at once, each of which may need a decoder. */
  readonly slots: number;
  /** Available memory, which limits the number of speaker workers next to GPUs. */
  readonly availableBytes: number;
}

/**
 * Estimates the peak memory of a server, in bytes. A worker holds the weights once, which need the size of the model's
 * file, and working memory for each of its parallel operations on the CPU. GPUs have memory of their own for these.
 */
export function memoryNeed(use: MemoryUse): number {
  const { modelBytes, threads, lanes, gpus, tunings, slots, availableBytes } = use;
  const atOnce = gpus > 0 ? 1 : cpuShares(threads, lanes === 0 ? undefined : lanes).lanes;
  const workers = Math.max(1, gpus) * (WORKER_BYTES + modelBytes + atOnce * laneBytes(modelBytes));
  const { bytes: speakerBytes } = speakerWorkers(threads, gpus, availableBytes, gpuSpeedOf(tunings));
  return SERVER_BYTES + workers + speakerBytes + slots * DECODER_BYTES;
}
