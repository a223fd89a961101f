/** Aborts its signal with the caller's signal, or when a time is over without a restart. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #seconds: number;
  readonly #error: Error;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #cancel = () => this.#controller.abort(this.#caller?.reason);

  constructor(caller: AbortSignal | undefined, seconds: number, error: Error) {
    this.#caller = caller;
    this.#seconds = seconds;
    this.#error = error;
    caller?.addEventListener("abort", this.#cancel, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time again, unless the limit has ended. */
  restart(): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(this.#error), this.#seconds * 1000);
  }

  /** Ends the limit, and a request that is still sent although it was answered. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#cancel);
    this.#controller.abort();
  }
}
