const tickMilliseconds = 10;

/** One GET: what it took, what of that this process itself stood still, in milliseconds, and what the server was at. */
interface Poll {
  readonly took: number;
  readonly stoodStill: number;
  readonly during: string;
}

/** What GETs took, and how much of it was this process, which has other things to do than to wait for answers. */
export class TimedPolls implements Disposable {
  readonly #polls: Poll[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #tickedAt = performance.now();
  #longestGap = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), tickMilliseconds);
  }

  get count(): number {
    return this.#polls.length;
  }

  /** Asks, and remembers how long that took. */
  async time<T>(during: string, ask: () => Promise<T>): Promise<T> {
    this.#tick();
    this.#longestGap = 0;
    const asked = performance.now();
    const answer = await ask();
    const took = performance.now() - asked;
    this.#tick();
    this.#polls.push({ took, stoodStill: Math.max(0, this.#longestGap - tickMilliseconds), during });
    return answer;
  }

  /** What all but a hundredth took at most, in milliseconds, and the slowest. */
  sum(): { readonly usual: number; readonly slowest: Poll } {
    const polls = this.#polls.toSorted((a, b) => a.took - b.took);
    const none = { took: 0, stoodStill: 0, during: "" };
    return { usual: polls[Math.floor(polls.length * 0.99)]?.took ?? 0, slowest: polls.at(-1) ?? none };
  }

  /** For the table: how many there were, and what the slowest of them met. */
  describe(): string {
    const { took, stoodStill, during } = this.sum().slowest;
    const own = stoodStill > took / 10 ? `, ${stoodStill.toFixed(0)} ms of it this process` : "";
    return `${this.count} polls, the slowest during ${during || "queued"}${own}`;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#tickedAt);
    this.#tickedAt = now;
  }
}
