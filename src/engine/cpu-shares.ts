import type { Start } from "./protocol.ts";

/** Each operation takes its own memory: 200 MB with base, more with larger models. */
const mostAtOnce = 4;

/**
 * How a worker's operations share the CPU: with a thread for each of them, as far as memory allows. Of a second thread one gains
 * next to nothing, since each step of the decoder is shared out anew: on two cores a half-minute window of base took 0.79 s with two
 * threads and with one, and two at once with a thread each as long as one alone.
 * @param threads that all share
 */
export function cpuShares(threads: number): Required<Pick<Start, "lanes" | "threads" | "speechThreads">> {
  const lanes = Math.min(threads, mostAtOnce);
  const each = Math.floor(threads / lanes);
  return { lanes, threads: each, speechThreads: each };
}
