import { count } from "../text/index.ts";
import type { Tuning } from "./lane-shares.ts";
import { gpuSpeedOf } from "./tunings.ts";

/** Peak memory of a speaker worker: 240 MB were measured with blocks of two minutes. */
const SPEAKER_WORKER_BYTES = 250e6;
/** Share of the available memory that speaker workers may use. */
const SPEAKER_WORKERS_MEMORY_SHARE = 0.25;
/**
 * Multiple of real time at which one speaker worker processes recordings on a core of its own. 51 to 60 were measured
 * (docs/gpu.md).
 */
const SPEAKER_WORKER_SPEED = 50;
/** Maximum number of speaker workers for each GPU, unless its measured speed needs more. One recording alone uses all. */
const SPEAKER_WORKERS_PER_GPU = 12;

/**
 * Returns the number of workers for operations without the recognizer next to GPUs, and their memory. ONNX Runtime blocks the process that
 * calls it, and threads of one operation wait for each other. Each worker therefore has one thread and one operation.
 * @param threads total number of threads for all operations
 * @param availableBytes available memory
 * @param gpuSpeed measured multiple of real time at which all GPUs recognize speech; 0: not known
 */
export function speakerWorkers(
  threads: number,
  gpus: number,
  availableBytes: number,
  gpuSpeed: number,
): { readonly count: number; readonly bytes: number } {
  const fitting = Math.floor((availableBytes * SPEAKER_WORKERS_MEMORY_SHARE) / SPEAKER_WORKER_BYTES);
  const useful = Math.max(gpus * SPEAKER_WORKERS_PER_GPU, Math.ceil(gpuSpeed / SPEAKER_WORKER_SPEED));
  const workers = gpus === 0 ? 0 : Math.min(threads, fitting, useful);
  return { count: workers, bytes: workers * SPEAKER_WORKER_BYTES };
}

/**
 * Returns a note that GPUs wait for speech detection and speaker diarization on the CPU; null if they do not, or were not
 * measured.
 * @param tunings of all devices
 * @param threads number of CPU threads for all operations
 */
export function cpuLimit(tunings: readonly Tuning[], threads: number): string | null {
  const gpuSpeed = gpuSpeedOf(tunings);
  const cpuSpeed = threads * SPEAKER_WORKER_SPEED;
  if (gpuSpeed <= cpuSpeed) return null;
  const part = `${count(threads, "thread")} ${threads === 1 ? "detects and embeds" : "detect and embed"} about ${cpuSpeed} times real time`;
  return `the CPU limits the GPU: ${part}, the GPU recognizes ${Math.round(gpuSpeed)} times`;
}
