/** Peak memory of a speaker worker: 240 MB were measured with blocks of two minutes. */
const SPEAKER_WORKER_BYTES = 250e6;
/** Share of the available memory that speaker workers may use. */
const SPEAKER_WORKERS_MEMORY_SHARE = 0.25;
/**
 * Maximum number of speaker workers for each GPU. One processes 51 to 60 times real time, and the fastest measured GPU
 * 649 times (docs/gpu.md).
 */
const MAX_SPEAKER_WORKERS_PER_GPU = 12;

/**
 * Returns the number of workers for operations without the recognizer next to GPUs, and their memory. ONNX Runtime blocks the process that
 * calls it, and threads of one operation wait for each other. Each worker therefore has one thread and one operation.
 * @param threads total number of threads for all operations
 * @param availableBytes available memory
 */
export function speakerWorkers(
  threads: number,
  gpus: number,
  availableBytes: number,
): { readonly count: number; readonly bytes: number } {
  const fitting = Math.floor((availableBytes * SPEAKER_WORKERS_MEMORY_SHARE) / SPEAKER_WORKER_BYTES);
  const count = gpus === 0 ? 0 : Math.min(threads, fitting, gpus * MAX_SPEAKER_WORKERS_PER_GPU);
  return { count, bytes: count * SPEAKER_WORKER_BYTES };
}
