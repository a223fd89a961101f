/** Something, and how long it may take. */
interface Watched {
  readonly limitSeconds: number;
  readonly onOverdue: (seconds: number) => void;
  seconds: number;
}

/**
 * Counts for how long things have been going on, in time that this process itself was running: neither a machine that sleeps
 * nor a container that is frozen makes anything late.
 */
export class Watchdog<Name> implements Disposable {
  readonly #watched = new Map<Name, Watched>();
  readonly #timer: NodeJS.Timeout;
  #lookedAt = performance.now();

  /** @param everyMilliseconds how often to look; when much more time has passed, the machine was asleep */
  constructor(everyMilliseconds: number) {
    this.#timer = setInterval(() => this.#look(2 * everyMilliseconds), everyMilliseconds);
    this.#timer.unref();
  }

  /** Begins to count. @param onOverdue called once, when it has gone on for longer than the limit */
  watch(name: Name, limitSeconds: number, onOverdue: (seconds: number) => void): void {
    this.#watched.set(name, { limitSeconds, onOverdue, seconds: 0 });
  }

  release(name: Name): void {
    this.#watched.delete(name);
  }

  releaseAll(): void {
    this.#watched.clear();
  }

  /** How long it has been going on, and what its limit is; null when it is not watched. */
  standing(name: Name): { readonly seconds: number; readonly limitSeconds: number } | null {
    return this.#watched.get(name) ?? null;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#watched.clear();
  }

  #look(longestMilliseconds: number): void {
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, longestMilliseconds) / 1000;
    this.#lookedAt = now;
    for (const watched of [...this.#watched.values()]) {
      const wasInTime = watched.seconds <= watched.limitSeconds;
      watched.seconds += passed;
      if (wasInTime && watched.seconds > watched.limitSeconds) watched.onOverdue(watched.seconds);
    }
  }
}
