import { ClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { Patience, type Wait } from "./patience.ts";

export interface PersistenceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long a server may fail or be away before it is given up. */
  readonly troubleSeconds: number;
}

export interface RunOptions {
  /** Told that a request waits, and for how long. */
  readonly onPause?: (wait: Wait, milliseconds: number) => void;
  /** Settles when a place of the account may have got free, so that waiting for one ends sooner. */
  readonly placeFreed?: () => Promise<void>;
}

/**
 * Makes requests until they are answered, so far as that makes sense. A server that was never reached is not waited for:
 * then it is the address that is wrong.
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
   * @param attempt one request, that may be made again; told how many were made before
   * @throws {ClientError} the last refusal @throws the signal's reason
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
