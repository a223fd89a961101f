/** An action at a moment of virtual time. */
interface Event {
  readonly at: number;
  readonly action: () => void;
}

/** Turns of the event loop after which all promises that an event has settled were continued. */
const TURNS = 4;

/**
 * Virtual time, in which sound plays as fast as operations are computed. It stands still while an operation runs, so a busy
 * machine gives the same result.
 */
export class VirtualTime {
  readonly #events: Event[] = [];
  readonly #running = new Set<Promise<unknown>>();
  #seconds = 0;

  /** Seconds since the start. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Runs an action at a moment. */
  at(seconds: number, action: () => void): void {
    const next = this.#events.findIndex((event) => event.at > seconds);
    this.#events.splice(next < 0 ? this.#events.length : next, 0, { at: seconds, action });
  }

  /** Waits for a computation, which takes some seconds of virtual time. @returns its result */
  async take<T>(computation: Promise<T>, seconds: number): Promise<T> {
    const end = this.#seconds + seconds;
    this.#running.add(computation);
    try {
      const result = await computation;
      return await new Promise((resolve) => this.at(end, () => resolve(result)));
    } finally {
      this.#running.delete(computation);
    }
  }

  /** Lets time pass until there are no more events. */
  async run(): Promise<void> {
    for (;;) {
      await this.#settle();
      const next = this.#events.shift();
      if (next === undefined) return;
      this.#seconds = next.at;
      next.action();
    }
  }

  /** Waits until every computation that has started has scheduled the event with its result. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      const computing = [...this.#running].filter((one) => !this.#isDone(one));
      if (computing.length === 0) continue;
      await Promise.allSettled(computing);
      turn = 0;
    }
  }

  readonly #done = new WeakSet<Promise<unknown>>();

  #isDone(computation: Promise<unknown>): boolean {
    if (this.#done.has(computation)) return true;
    const note = () => this.#done.add(computation);
    computation.then(note, note);
    return false;
  }
}
