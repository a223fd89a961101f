/** A rate limit that permits bursts: tokens are spent at once, and return at a constant rate. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  /** @param now milliseconds since the epoch */
  constructor(capacity: number, perSecond: number, now: () => number) {
    this.#capacity = capacity;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = capacity;
    this.#at = now();
  }

  /** Spends a token. @returns false if none is left */
  spend(): boolean {
    const now = this.#now();
    // A clock that was set back returns no tokens.
    const seconds = Math.max(0, now - this.#at) / 1000;
    this.#at = now;
    this.#tokens = Math.min(this.#capacity, this.#tokens + seconds * this.#perSecond);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
