import { FetchError, type FetchFault } from "./fetch-error.ts";

/** How far a request is. */
export type FetchStage = "resolve" | "connect" | "secure" | "answer" | "body";

/** What it is called when a stage takes too long. */
const STALLED: Record<FetchStage, FetchFault> = {
  resolve: "fetch_dns_failed",
  connect: "fetch_connect_failed",
  secure: "fetch_tls_failed",
  answer: "fetch_too_slow",
  body: "fetch_too_slow",
};

/**
 * What has to arrive in every stall time of the body. A host that drips single bytes would otherwise hold its place until the
 * whole time is over. At the default of 30 s this is 0.5 KiB/s, under the slowest speech codecs in use (AMR 4.75: 0.6 KiB/s).
 */
const MIN_BYTES_PER_STALL = 16 * 1024;

/**
 * The clock of one fetch, over all its redirects: `signal` is aborted when the caller's is, when the whole time is over, or when a
 * stage stalls, with the reason to throw. Disposing of it stops its timers.
 */
export class TimeLimits implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #stallSeconds: number;
  readonly #caller: AbortSignal;
  readonly #wholeTime: Timer;
  #stall: Timer | undefined;
  #stage: FetchStage = "resolve";
  #bytes = 0;
  #over = false;

  constructor(limits: { maxSeconds: number; stallSeconds: number; signal: AbortSignal }) {
    this.signal = this.#controller.signal;
    this.#stallSeconds = limits.stallSeconds;
    this.#caller = limits.signal;
    this.#caller.addEventListener("abort", this.#followCaller);
    if (this.#caller.aborted) this.#followCaller();
    this.#wholeTime = setTimeout(() => {
      this.#abort("fetch_timed_out", `the recording did not arrive within ${limits.maxSeconds} s`);
    }, limits.maxSeconds * 1_000);
    this.#watchStall();
  }

  get stage(): FetchStage {
    return this.#stage;
  }

  /** A request has come to its next stage, and has the stall time for it. */
  enter(stage: FetchStage): void {
    this.#stage = stage;
    this.#watchStall();
  }

  /** So many bytes of the body have come. */
  received(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_BYTES_PER_STALL) this.#watchStall();
  }

  [Symbol.dispose](): void {
    this.#over = true;
    clearTimeout(this.#wholeTime);
    clearTimeout(this.#stall);
    this.#caller.removeEventListener("abort", this.#followCaller);
  }

  readonly #followCaller = () => this.#controller.abort(this.#caller.reason);

  #watchStall(): void {
    this.#bytes = 0;
    clearTimeout(this.#stall);
    // A look-up that nobody waits for any more may still come back.
    if (this.#over) return;
    this.#stall = setTimeout(() => {
      this.#abort(STALLED[this.#stage], `stalled for ${this.#stallSeconds} s (${this.#stage})`);
    }, this.#stallSeconds * 1_000);
  }

  #abort(fault: FetchFault, message: string): void {
    this.#controller.abort(new FetchError(fault, message));
  }
}
