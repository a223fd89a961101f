/** An activity and its time limit. */
interface Watched {
  readonly limitSeconds: number;
  readonly onOverdue: (seconds: number) => void;
  seconds: number;
}

/**
 * Measures how long activities last, in time during which this process itself was running. A machine that sleeps or a
 * container that is frozen therefore makes nothing overdue.
 */
export class Watchdog<Name> implements Disposable {
  readonly #watched = new Map<Name, Watched>();
  readonly #timer: NodeJS.Timeout;
  #checkedAt = performance.now();

  /**
   * @param intervalMilliseconds interval of the checks; each check counts at most twice this time, for the machine may
   *   have slept
   */
  constructor(intervalMilliseconds: number) {
    this.#timer = setInterval(() => this.#check(2 * intervalMilliseconds), intervalMilliseconds);
    this.#timer.unref();
  }

  /** Starts measuring. @param onOverdue called once, when the limit is exceeded */
  watch(name: Name, limitSeconds: number, onOverdue: (seconds: number) => void): void {
    this.#watched.set(name, { limitSeconds, onOverdue, seconds: 0 });
  }

  release(name: Name): void {
    this.#watched.delete(name);
  }

  releaseAll(): void {
    this.#watched.clear();
  }

  /** Returns how long the activity has lasted and its limit; null when it is not watched. */
  elapsed(name: Name): { readonly seconds: number; readonly limitSeconds: number } | null {
    return this.#watched.get(name) ?? null;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#watched.clear();
  }

  #check(longestMilliseconds: number): void {
    const now = performance.now();
    const passed = Math.min(now - this.#checkedAt, longestMilliseconds) / 1000;
    this.#checkedAt = now;
    for (const watched of [...this.#watched.values()]) {
      const wasInTime = watched.seconds <= watched.limitSeconds;
      watched.seconds += passed;
      if (wasInTime && watched.seconds > watched.limitSeconds) watched.onOverdue(watched.seconds);
    }
  }
}
