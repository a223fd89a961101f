import { cpuShares } from "../../engine/index.ts";
import { speakerWorkers } from "./speaker-workers.ts";

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
  /** Recordings that are processed at once, each of which may need a decoder. */
  readonly slots: number;
  /** Available memory, which limits the number of speaker workers next to GPUs. */
  readonly availableBytes: number;
}

/**
 * Estimates the peak memory of a server, in bytes. A worker holds the weights once, which need the size of the model's
 * file, and working memory for each of its parallel operations on the CPU. GPUs have memory of their own for these.
 */
export function memoryNeed({ modelBytes, threads, lanes, gpus, slots, availableBytes }: MemoryUse): number {
  const atOnce = gpus > 0 ? 1 : cpuShares(threads, lanes === 0 ? undefined : lanes).lanes;
  const workers = Math.max(1, gpus) * (WORKER_BYTES + modelBytes + atOnce * laneBytes(modelBytes));
  return SERVER_BYTES + workers + speakerWorkers(threads, gpus, availableBytes).bytes + slots * DECODER_BYTES;
}

/**
 * Returns the working memory of one operation of the recognizer, which grows with the size of the model. whisper.cpp's
 * README gives these totals: tiny 273 MB (75 on disk), base 388 (142), small 852 (466), medium 2.1 GB (1.5), large 3.9 GB
 * (2.9).
 */
export function laneBytes(modelBytes: number): number {
  return modelBytes * 0.3 + 150e6;
}
