import type { MachineTroubleKind } from "../../storage/index.ts";

/** A recording that could not be gone on with. */
interface Stalled {
  /** Null for a fault of the program. */
  readonly trouble: MachineTroubleKind | null;
  readonly tries: number;
  /** When it was last gone on with, in milliseconds since the epoch; null while it waits for that. */
  readonly triedAt: number | null;
}

interface Retry {
  readonly again: () => void;
  readonly timer: Timer;
}

const mostRetryMilliseconds = 60_000;
/** What has been gone on with for so long has met no trouble, though hours may be left of it. */
const goesOnMilliseconds = 60_000;
const defaultRetryMilliseconds = (tries: number) => Math.min(mostRetryMilliseconds, 1000 * 2 ** tries);

/**
 * What waits for the machine, from its first try that found it in trouble to the first that does not. Others have its slot
 * meanwhile: one that needs much room must not hold up those that need little.
 */
export class StalledRecordings {
  readonly #stalled = new Map<string, Stalled>();
  readonly #retries = new Map<string, Retry>();
  #ends = 0;
  readonly #now: () => number;
  readonly #retryMilliseconds: (tries: number) => number;

  /**
   * @param now milliseconds since the epoch
   * @param retryMilliseconds how long one waits until it is tried again, by the number of tries
   */
  constructor(now: () => number, retryMilliseconds = defaultRetryMilliseconds) {
    this.#now = now;
    this.#retryMilliseconds = retryMilliseconds;
  }

  /** How many recordings have ended. */
  get ends(): number {
    return this.#ends;
  }

  /**
   * @param endsBefore how many recordings had ended when this try began
   * @param again called when it is to be tried again
   */
  tryLater(recordingId: string, trouble: MachineTroubleKind | null, endsBefore: number, again: () => void): void {
    const tries = (this.#stalled.get(recordingId)?.tries ?? 0) + 1;
    this.#stalled.set(recordingId, { trouble, tries, triedAt: null });
    const retry = () => {
      this.#retries.delete(recordingId);
      again();
    };
    this.#retries.set(recordingId, { again: retry, timer: setTimeout(retry, this.#retryMilliseconds(tries)) });
    // The room that it found taken may have become free while it gave up.
    if (this.#ends !== endsBefore) this.#tryForRoom();
  }

  /** It is gone on with. */
  begins(recordingId: string): void {
    const stalled = this.#stalled.get(recordingId);
    if (stalled !== undefined) this.#stalled.set(recordingId, { ...stalled, triedAt: this.#now() });
  }

  /** It waits for the machine no more, and has not ended. */
  resumes(recordingId: string): void {
    this.#stalled.delete(recordingId);
  }

  /** It has ended, and left its room to those that wait for some. */
  ended(recordingId: string): void {
    this.#stalled.delete(recordingId);
    this.#ends += 1;
    this.#tryForRoom();
  }

  /** In the order in which they began to wait. */
  #tryForRoom(): void {
    for (const [recordingId, { trouble }] of this.#stalled) {
      const retry = this.#retries.get(recordingId);
      if (trouble !== "no_room" || retry === undefined) continue;
      clearTimeout(retry.timer);
      retry.again();
    }
  }

  /** What they wait for, one entry for each; none of those that are to be tried again and wait for a slot and no more. */
  troubles(): MachineTroubleKind[] {
    return [...this.#stalled.keys()].flatMap((id) => this.troubleOf(id) ?? []);
  }

  /** What one of them waits for; null where it does not wait. */
  troubleOf(recordingId: string): MachineTroubleKind | null {
    const stalled = this.#stalled.get(recordingId);
    if (stalled === undefined) return null;
    const { trouble, triedAt } = stalled;
    const waits = triedAt === null ? this.#retries.has(recordingId) : this.#now() - triedAt < goesOnMilliseconds;
    return waits ? trouble : null;
  }

  /** None is tried again. */
  stop(): void {
    for (const { timer } of this.#retries.values()) clearTimeout(timer);
  }
}
