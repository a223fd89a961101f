import type { ClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";

/** Reason for the pause before a retry: no free place in the account, the rate limit, or a failing server. */
export type Wait = "place" | "rate" | "server";

/**
 * Codes of status 409 that resolve by themselves, with their pauses in seconds: a place becomes free, or the first
 * request with the same Idempotency-Key is answered.
 */
const passing: Readonly<Record<string, { from: number; to: number }>> = {
  concurrency_limit: { from: 5, to: 30 },
  idempotency_request_in_progress: { from: 2, to: 30 },
};
const trouble = { from: 1, to: 60 };

export interface Pause {
  readonly wait: Wait;
  readonly milliseconds: number;
}

/**
 * Computation of the pauses before the retries of one request (api.md, 8). After 429, the pause is `Retry-After`, if
 * given. After 409, there is a pause only for codes that resolve by themselves. After 5xx and lost connections, the
 * pauses double, with jitter, until the failures have lasted too long.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #troubleMilliseconds: number;
  #pauses = 0;
  #lastCode = "";
  #troubleSince: number | null = null;

  /** @param troubleSeconds how long a server may fail or be unreachable */
  constructor(clock: Clock, troubleSeconds: number) {
    this.#clock = clock;
    this.#troubleMilliseconds = troubleSeconds * 1000;
  }

  /** Returns the pause before the next retry, or null when a retry makes no sense. */
  after(error: ClientError): Pause | null {
    if (error.code !== this.#lastCode) this.#pauses = 0;
    this.#lastCode = error.code;
    const retryAfter = error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000;
    if (error.status === 429) return { wait: "rate", milliseconds: retryAfter ?? this.#next(trouble) };
    if (error.code === "concurrency_limit") {
      return { wait: "place", milliseconds: this.#next(passing.concurrency_limit ?? trouble) };
    }
    const lost = error.status === null && error.code === "no_answer";
    const range = passing[error.code] ?? (lost || (error.status ?? 0) >= 500 ? trouble : null);
    if (range === null) return null;
    this.#troubleSince ??= this.#clock.now();
    if (this.#clock.now() - this.#troubleSince > this.#troubleMilliseconds) return null;
    return { wait: "server", milliseconds: Math.max(retryAfter ?? 0, this.#next(range)) };
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
