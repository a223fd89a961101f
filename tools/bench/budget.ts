import { messageOf } from "../../src/text/index.ts";

/** The time of a command that measures as much as fits into it, and what did not fit. */
export class Budget {
  readonly #skipped: string[] = [];
  readonly #ends: number;
  readonly #now: () => number;
  readonly #onSkip: (what: string) => void;

  /**
   * @param now current time in milliseconds
   * @param onSkip called with each measurement that is left out, and the reason
   */
  constructor(minutes: number, onSkip: (what: string) => void, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#onSkip = onSkip;
    this.#ends = now() + 60_000 * minutes;
  }

  /** What was left out, each with its reason. */
  get skipped(): readonly string[] {
    return this.#skipped;
  }

  get secondsLeft(): number {
    return Math.max(0, (this.#ends - this.#now()) / 1000);
  }

  /**
   * Makes a measurement if time is left for it. A failure is recorded like lack of time, because the others still count.
   * @param seconds time that it needs at least, and may take at most
   * @param measure receives the seconds that it may take; returns why a part of it is missing, or null
   */
  async measure(
    what: string,
    seconds: { readonly least: number; readonly most: number },
    measure: (seconds: number) => Promise<string | null>,
  ): Promise<void> {
    const left = this.secondsLeft;
    if (left < seconds.least) {
      this.skip(`${what}: it needs ${seconds.least} s, and ${Math.floor(left)} s are left`);
      return;
    }
    const reason = await measure(Math.min(left, seconds.most)).catch(messageOf);
    if (reason !== null) this.skip(`${what}: ${reason}`);
  }

  skip(what: string): void {
    this.#skipped.push(what);
    this.#onSkip(what);
  }
}
