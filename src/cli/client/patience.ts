import type { ClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";

/** What a request waits for before it is made again. */
export type Wait = "place" | "rate" | "server";

/** Codes of 409 that pass by themselves: a place gets free, the first request with the same key is answered. */
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
 * How long to wait before one request is made again (api.md, 8): 429 as long as `Retry-After` says; 409 for a pause, where
 * waiting helps; 5xx and lost connections for pauses that double, with jitter, until it has gone on for too long.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #troubleMilliseconds: number;
  #pauses = 0;
  #lastCode = "";
  #troubleSince: number | null = null;

  /** @param troubleSeconds how long a server may fail or be away */
  constructor(clock: Clock, troubleSeconds: number) {
    this.#clock = clock;
    this.#troubleMilliseconds = troubleSeconds * 1000;
  }

  /** @returns null when it makes no sense to try again */
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

  /** Doubles from one pause to the next; between half of it and all of it, so that many clients don't come at once. */
  #next({ from, to }: { readonly from: number; readonly to: number }): number {
    const seconds = Math.min(to, from * 2 ** this.#pauses++);
    return Math.round(1000 * seconds * (0.5 + this.#clock.random() / 2));
  }
}
