import { ApiError, NoAnswerError } from "./errors.ts";

/** Source of time and randomness, which the tests of a program may replace. */
export interface Clock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Waits. @throws the signal's reason when it is aborted */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** Returns a random number from 0 to 1. */
  random(): number;
}

/** Reason for a pause: no free place in the account, the rate limit, or a server that fails or does not answer. */
export type PauseReason = "place" | "rate" | "server";

/** A pause before a retry. */
export interface Pause {
  readonly reason: PauseReason;
  readonly milliseconds: number;
  /** The failure after which the request is retried. */
  readonly error: ApiError | NoAnswerError;
}

/** Pauses in seconds: the first, and the longest. They double in between. */
interface Pauses {
  readonly first: number;
  readonly longest: number;
}

/** Codes of status 409 that pass with time: a place becomes free, or the first request with the same key is answered. */
const CONFLICT_PAUSES: Readonly<Record<string, Pauses>> = {
  concurrency_limit: { first: 5, longest: 30 },
  idempotency_request_in_progress: { first: 2, longest: 30 },
};
const OUTAGE_PAUSES: Pauses = { first: 1, longest: 60 };

/** Computes the pauses before the retries of one request. */
export class Backoff {
  readonly #clock: Clock;
  readonly #retryMilliseconds: number;
  readonly #waitsForLimits: boolean;
  #pauses = 0;
  #lastCode = "";
  /** Time of the first failure. The time before it, such as that of a long upload, does not count. */
  #failingSince: number | null = null;

  constructor(clock: Clock, retrySeconds: number, waitsForLimits: boolean) {
    this.#clock = clock;
    this.#retryMilliseconds = retrySeconds * 1000;
    this.#waitsForLimits = waitsForLimits;
  }

  /**
   * Returns the pause before the next retry, or null if the error stays or the time for retries is over. Only 429, 5xx,
   * a lost connection, and two conflicts pass with time.
   */
  after(error: unknown): Pause | null {
    if (!(error instanceof ApiError || error instanceof NoAnswerError)) return null;
    const pauses = pausesAfter(error);
    if (pauses === null) return null;
    const { code, status, retryAfterSeconds } =
      error instanceof ApiError ? error : { code: "", status: 0, retryAfterSeconds: null };
    if (code !== this.#lastCode) this.#pauses = 0;
    this.#lastCode = code;
    const reason = status === 429 ? "rate" : code === "concurrency_limit" ? "place" : "server";
    const asked = (retryAfterSeconds ?? 0) * 1000;
    // The Retry-After of a rate limit is exact.
    const milliseconds = reason === "rate" && retryAfterSeconds !== null ? asked : Math.max(asked, this.#next(pauses));
    if (this.#waitsForLimits && reason !== "server") return { reason, milliseconds, error };
    const now = this.#clock.now();
    this.#failingSince ??= now;
    const left = this.#failingSince + this.#retryMilliseconds - now;
    if (left <= 0 || asked > left) return null;
    return { reason, milliseconds: Math.min(milliseconds, left), error };
  }

  /** Returns 50 to 100 % of the doubled pause, so that many clients don't retry at the same time. */
  #next({ first, longest }: Pauses): number {
    const seconds = Math.min(longest, first * 2 ** this.#pauses++);
    return Math.round(1000 * seconds * (0.5 + this.#clock.random() / 2));
  }
}

function pausesAfter(error: ApiError | NoAnswerError): Pauses | null {
  if (error instanceof NoAnswerError) return error.isTemporary ? OUTAGE_PAUSES : null;
  const isOutage = error.status === 429 || error.status >= 500;
  return CONFLICT_PAUSES[error.code] ?? (isOutage ? OUTAGE_PAUSES : null);
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, milliseconds);
      if (signal?.aborted === true) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    }),
  random: Math.random,
};
