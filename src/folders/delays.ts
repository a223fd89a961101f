import type { Hindrance } from "./hindrances.ts";

interface Delay {
  readonly until: number;
  /** Number of attempts that met the hindrance. */
  readonly attempts: number;
  readonly hindrance: Hindrance;
}

/** Delay after the first attempt. Each further one is twice as long, up to the maximum. */
const FIRST_MILLISECONDS = 15_000;
const MAX_MILLISECONDS = 5 * 60_000;

/** Files that met a hindrance of their own, and when they are attempted again. */
export class Delays {
  readonly #now: () => number;
  readonly #delays = new Map<string, Delay>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records an attempt that met a hindrance. */
  add(key: string, hindrance: Hindrance): void {
    const attempts = this.#delays.get(key)?.attempts ?? 0;
    const delay = Math.min(MAX_MILLISECONDS, FIRST_MILLISECONDS * 2 ** Math.min(attempts, 10));
    this.#delays.set(key, { until: this.#now() + delay, attempts: attempts + 1, hindrance });
  }

  has(key: string): boolean {
    return this.#delays.has(key);
  }

  /** Returns whether a file is to be left alone now. */
  isWaiting(key: string): boolean {
    return (this.#delays.get(key)?.until ?? 0) > this.#now();
  }

  delete(key: string): void {
    this.#delays.delete(key);
  }

  /** Forgets all files but these. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#delays.keys()) if (!keys.has(key)) this.#delays.delete(key);
  }

  keys(): string[] {
    return [...this.#delays.keys()];
  }

  /** A hindrance that one of the files met; null if there is none. */
  get hindrance(): Hindrance | null {
    const [first] = this.#delays.values();
    return first?.hindrance ?? null;
  }
}
