import { MediaError, type MediaFault } from "../media-error.ts";

/** Faults of each stage of a request: when it takes too long, and when the connection fails. */
export const FAULTS = {
  resolve: { stalled: "fetch_dns_failed", failed: "fetch_dns_failed" },
  connect: { stalled: "fetch_connect_failed", failed: "fetch_connect_failed" },
  secure: { stalled: "fetch_tls_failed", failed: "fetch_tls_failed" },
  answer: { stalled: "fetch_too_slow", failed: "fetch_interrupted" },
  body: { stalled: "fetch_too_slow", failed: "fetch_interrupted" },
} as const;
export type FetchStage = keyof typeof FAULTS;

/**
 * Minimum average speed of uploads and fetched links, set by the API contract: 16 KiB/s after the first minute, which
 * redirects and a slow start may take.
 */
export const MINIMUM_PACE = { graceSeconds: 60, bytesPerSecond: 16 * 1024 } as const;

/**
 * Number of bytes that must arrive in every stall time of the body. Otherwise a host that sends single bytes would
 * occupy its slot until the total time passes. At the default of 30 s this is 0.5 KiB/s, below the slowest speech
 * codecs in use (AMR 4.75: 0.6 KiB/s).
 */
const MIN_BYTES_PER_STALL = 16 * 1024;

/**
 * Time limits of one fetch, over all its redirects. `signal` is aborted when the caller's signal is aborted, when the
 * total time passes or when a stage stalls. Its reason is the error to throw. Disposal stops the timers.
 *
 * The total time is derived from the announced size. If no size is announced, it grows with the bytes that arrive.
 */
export class TimeLimits implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #maxSeconds: number;
  readonly #stallSeconds: number;
  readonly #startedAt = performance.now();
  #wholeTime: Timer | undefined;
  #stall: Timer | undefined;
  /** The current stage; see enter. */
  stage: FetchStage = "resolve";
  #bytesSinceStall = 0;
  #arrivedBytes = 0;
  #announcedBytes = 0;
  #over = false;

  constructor({ maxSeconds, stallSeconds, signal }: { maxSeconds: number; stallSeconds: number; signal: AbortSignal }) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.#maxSeconds = maxSeconds;
    this.#stallSeconds = stallSeconds;
    this.#watchWholeTime();
    this.#watchStall();
  }

  /** Starts the next stage of a request, with a new stall time. */
  enter(stage: FetchStage): void {
    this.stage = stage;
    this.#watchStall();
  }

  /** Records the announced size of the body. */
  announced(bytes: number): void {
    this.#announcedBytes = bytes;
    this.#watchWholeTime();
  }

  /** Records bytes of the body that have arrived. */
  received(bytes: number): void {
    this.#arrivedBytes += bytes;
    this.#bytesSinceStall += bytes;
    if (this.#bytesSinceStall >= MIN_BYTES_PER_STALL) this.#watchStall();
  }

  [Symbol.dispose](): void {
    this.#over = true;
    clearTimeout(this.#wholeTime);
    clearTimeout(this.#stall);
  }

  /** Aborts the fetch, or sets a timer for the next check, by when more bytes may have extended the permitted time. */
  #watchWholeTime(): void {
    clearTimeout(this.#wholeTime);
    // A longer stall time that an operator sets also extends the initial period.
    const graceSeconds = Math.max(MINIMUM_PACE.graceSeconds, this.#stallSeconds);
    const { bytesPerSecond } = MINIMUM_PACE;
    const ownSeconds = graceSeconds + Math.max(this.#announcedBytes, this.#arrivedBytes) / bytesPerSecond;
    const allowedSeconds = Math.min(ownSeconds, this.#maxSeconds);
    const leftMilliseconds = this.#startedAt + allowedSeconds * 1_000 - performance.now();
    if (leftMilliseconds > 0) {
      this.#wholeTime = setTimeout(() => this.#watchWholeTime(), Math.ceil(leftMilliseconds));
    } else if (ownSeconds < this.#maxSeconds) {
      const message = `the recording arrives at less than ${bytesPerSecond / 1024} KiB/s after ${graceSeconds} s`;
      this.#abort("fetch_too_slow", message);
    } else {
      this.#abort("fetch_timed_out", `the recording did not arrive within ${this.#maxSeconds} s`);
    }
  }

  #watchStall(): void {
    this.#bytesSinceStall = 0;
    clearTimeout(this.#stall);
    // A look-up that is no longer awaited may still complete.
    if (this.#over) return;
    this.#stall = setTimeout(() => {
      this.#abort(FAULTS[this.stage].stalled, `stalled for ${this.#stallSeconds} s (${this.stage})`);
    }, this.#stallSeconds * 1_000);
  }

  #abort(fault: MediaFault, message: string): void {
    this.#controller.abort(new MediaError(fault, message));
  }
}
