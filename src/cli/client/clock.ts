import { setTimeout as sleepFor } from "node:timers/promises";

/** Source of time and randomness for the client; tests pass their own. */
export interface Clock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Waits. @throws the signal's reason when it is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns a random number from 0 to 1. */
  random(): number;
}

export const realClock: Clock = {
  now: () => performance.now(),
  async sleep(milliseconds, signal) {
    await sleepFor(milliseconds, undefined, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  },
  random: Math.random,
};
