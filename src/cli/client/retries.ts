import { setTimeout as sleepFor } from "node:timers/promises";
import { ClientError } from "./request.ts";

/** Source of time and randomness for the client; tests pass their own. */
export interface Clock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Waits. @throws the signal's reason when it is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns a random number from 0 to 1. */
  random(): number;
}

const realClock: Clock = {
  now: () => performance.now(),
  async sleep(milliseconds, signal) {
    await sleepFor(milliseconds, undefined, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  },
  random: Math.random,
};

/** Reason for the pause before a retry: no free place in the account, the rate limit, or a failing server. */
export type PauseReason = "place" | "rate" | "server";

interface Pause {
  readonly reason: PauseReason;
  readonly milliseconds: number;
}

/**
 * Codes of status 409 that resolve by themselves, with their pauses in seconds: a place becomes free, or the first
 * request with the same Idempotency-Key is answered.
 */
const CONFLICT_PAUSE_SECONDS: Readonly<Record<string, { from: number; to: number }>> = {
  concurrency_limit: { from: 5, to: 30 },
  idempotency_request_in_progress: { from: 2, to: 30 },
};
const OUTAGE_PAUSE_SECONDS = { from: 1, to: 60 };

/**
 * Computes the pauses before the retries of one request (api.md, 8). After 429, the pause is `Retry-After`, if given.
 * After 409, there is a pause only for codes that resolve by themselves. After 5xx and lost connections, the pauses
 * double, with jitter, until the failures have lasted too long.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #outageMilliseconds: number;
  #pauses = 0;
  #lastCode = "";
  #outageSince: number | null = null;

  /** @param outageSeconds how long a server may fail or be unreachable */
  constructor(clock: Clock, outageSeconds: number) {
    this.#clock = clock;
    this.#outageMilliseconds = outageSeconds * 1000;
  }

  /** Returns the pause before the next retry, or null when a retry makes no sense. */
  after(error: ClientError): Pause | null {
    if (error.code !== this.#lastCode) this.#pauses = 0;
    this.#lastCode = error.code;
    const retryAfter = error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000;
    if (error.status === 429) return { reason: "rate", milliseconds: retryAfter ?? this.#next(OUTAGE_PAUSE_SECONDS) };
    const isOutage = (error.status === null && error.code === "no_answer") || (error.status ?? 0) >= 500;
    const range = CONFLICT_PAUSE_SECONDS[error.code] ?? (isOutage ? OUTAGE_PAUSE_SECONDS : null);
    if (range === null) return null;
    if (error.code === "concurrency_limit") return { reason: "place", milliseconds: this.#next(range) };
    this.#outageSince ??= this.#clock.now();
    if (this.#clock.now() - this.#outageSince > this.#outageMilliseconds) return null;
    return { reason: "server", milliseconds: Math.max(retryAfter ?? 0, this.#next(range)) };
  }

  /**
   * Returns the next pause in milliseconds. The base doubles with each pause; the result is 50 to 100 % of it, so that
   * many clients don't retry at the same time.
   */
  #next({ from, to }: { readonly from: number; readonly to: number }): number {
    const seconds = Math.min(to, from * 2 ** this.#pauses++);
    return Math.round(1000 * seconds * (0.5 + this.#clock.random() / 2));
  }
}

/** Reactions to the pauses of a request. */
export interface PauseOptions {
  /** Called before each pause. */
  readonly onPause?: (pause: Pause) => void;
  /** Resolves when a place of the account may have become free; this ends the wait for a place early. */
  readonly placeFreed?: () => Promise<void>;
}

/**
 * Runs requests with retries, as long as they make sense. Without any response so far, there are no retries: the
 * address is probably wrong.
 */
export class Retries {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly #outageSeconds: number;
  #reached = false;

  /** @param outageSeconds how long a server may fail or be unreachable before requests fail */
  constructor(signal: AbortSignal, outageSeconds: number, clock: Clock = realClock) {
    this.signal = signal;
    this.#outageSeconds = outageSeconds;
    this.clock = clock;
  }

  /**
   * Runs a request until it succeeds.
   * @param attempt makes the request once; receives the number of previous attempts
   * @throws {ClientError} the error of the last attempt @throws the signal's reason
   */
  async run<T>(attempt: (attempts: number) => Promise<T>, { onPause, placeFreed }: PauseOptions = {}): Promise<T> {
    const backoff = new Backoff(this.clock, this.#outageSeconds);
    for (let attempts = 0; ; attempts++) {
      try {
        const result = await attempt(attempts);
        this.#reached = true;
        return result;
      } catch (error) {
        if (this.signal.aborted || !(error instanceof ClientError)) throw error;
        if (error.status !== null) this.#reached = true;
        const pause = this.#reached ? backoff.after(error) : null;
        if (pause === null) throw error;
        onPause?.(pause);
        await this.#wait(pause.milliseconds, pause.reason === "place" ? placeFreed : undefined);
      }
    }
  }

  async #wait(milliseconds: number, placeFreed: (() => Promise<void>) | undefined): Promise<void> {
    const waited = new AbortController();
    const sleep = this.clock.sleep(milliseconds, AbortSignal.any([this.signal, waited.signal]));
    try {
      await (placeFreed === undefined ? sleep : Promise.race([sleep, placeFreed()]));
    } finally {
      waited.abort();
      await sleep.catch(() => {});
    }
  }
}
