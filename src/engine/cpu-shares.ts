import type { Start } from "./protocol.ts";

/** Each operation needs working memory of its own: 200 MB with base, more with larger models. */
const mostAtOnce = 4;

/**
 * How a worker's operations share the CPU: one thread each, as many at once as memory allows. A second thread gains an operation
 * next to nothing, because its threads wait for each other at every step of the decoder: on two cores a half-minute window of
 * base took 0.79 s with two threads and with one, and two windows at once, with a thread each, took no longer than one alone.
 * @param threads that all operations share
 */
export function cpuShares(threads: number): Pick<Start, "lanes" | "threads" | "speechThreads"> {
  const lanes = Math.min(threads, mostAtOnce);
  const each = Math.floor(threads / lanes);
  return { lanes, threads: each, speechThreads: each };
}
