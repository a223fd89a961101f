import { setTimeout as sleepFor } from "node:timers/promises";

/** Time and chance, as the client takes them; tests hand in their own. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** @throws the signal's reason when it is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** 0 to 1 */
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
