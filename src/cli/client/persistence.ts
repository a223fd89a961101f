import { ClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { Patience, type Wait } from "./patience.ts";

export interface PersistenceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum time that a server may fail or be unreachable before requests fail. */
  readonly troubleSeconds: number;
}

export interface RunOptions {
  /** Called before each pause, with its reason and length. */
  readonly onPause?: (wait: Wait, milliseconds: number) => void;
  /** Resolves when a place of the account may have become free; this ends the wait for a place early. */
  readonly placeFreed?: () => Promise<void>;
}

/**
 * Runs requests with retries, as long as they make sense. Without any response so far, there are no retries: the
 * address is probably wrong.
 */
export class Persistence {
  readonly #options: PersistenceOptions;
  #reached = false;

  constructor(options: PersistenceOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /**
   * Runs a request until it succeeds.
   * @param attempt makes the request once; receives the number of previous attempts
   * @throws {ClientError} the error of the last attempt @throws the signal's reason
   */
  async run<T>(attempt: (tries: number) => Promise<T>, options: RunOptions = {}): Promise<T> {
    const { clock, signal, troubleSeconds } = this.#options;
    const patience = new Patience(clock, troubleSeconds);
    for (let tries = 0; ; tries++) {
      try {
        const result = await attempt(tries);
        this.#reached = true;
        return result;
      } catch (error) {
        if (signal.aborted || !(error instanceof ClientError)) throw error;
        if (error.status !== null) this.#reached = true;
        const pause = this.#reached ? patience.after(error) : null;
        if (pause === null) throw error;
        options.onPause?.(pause.wait, pause.milliseconds);
        await this.#wait(pause.milliseconds, pause.wait === "place" ? options.placeFreed : undefined);
      }
    }
  }

  async #wait(milliseconds: number, sooner: (() => Promise<void>) | undefined): Promise<void> {
    const { clock, signal } = this.#options;
    const slept = new AbortController();
    const sleep = clock.sleep(milliseconds, AbortSignal.any([signal, slept.signal]));
    try {
      await (sooner === undefined ? sleep : Promise.race([sleep, sooner()]));
    } finally {
      slept.abort();
      await sleep.catch(() => {});
    }
  }
}
