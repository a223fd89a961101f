import type { WorkerStart } from "../operations/index.ts";

/** Maximum number of concurrent operations by default. Each needs working memory of its own: 200 MB with base, or more. */
const MAX_CONCURRENT_OPERATIONS = 4;

/**
 * Returns how a worker's operations share the CPU: one thread each, as many at the same time as memory allows. A second
 * thread hardly speeds up an operation, because its threads wait for each other at every step of the decoder. On two
 * cores a 30 s window of base took 0.79 s with two threads and with one. Two windows at the same time, with one thread
 * each, took no longer than one window alone.
 * @param threads total number of threads for all operations
 * @param atOnce number of concurrent operations
 */
export function cpuShares(
  threads: number,
  atOnce = MAX_CONCURRENT_OPERATIONS,
): Pick<WorkerStart, "lanes" | "threads" | "speechThreads"> {
  const lanes = Math.min(threads, atOnce);
  const threadsEach = Math.floor(threads / lanes);
  return { lanes, threads: threadsEach, speechThreads: threadsEach };
}
