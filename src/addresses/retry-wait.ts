/** Part of a wait that is random, so that a receiver does not get everything at once after an outage. */
const JITTER = 0.2;

/**
 * Returns the milliseconds until the next attempt at a receiver that fails.
 * @param waits after the first failures; the last one is that after all others
 * @param failures number of failures, at least 1
 * @param random from 0 to 1
 */
export function retryWait(waits: readonly number[], failures: number, random: number): number {
  const wait = waits[Math.min(failures, waits.length) - 1] ?? 0;
  return wait * (1 - JITTER / 2 + JITTER * random);
}
