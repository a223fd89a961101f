import type { MachineTroubleKind } from "../../storage/index.ts";

/** A recording that could not be resumed. */
interface Stalled {
  /** Null for a fault of the program. */
  readonly trouble: MachineTroubleKind | null;
  readonly tries: number;
  /** Start of the last retry, in milliseconds since the epoch; null while it waits for the next one. */
  readonly triedAt: number | null;
}

interface Retry {
  readonly again: () => void;
  readonly timer: Timer;
}

const mostRetryMilliseconds = 60_000;
/**
 * Time in milliseconds after which a resumed recording counts as free of machine trouble, though hours of work may be
 * left.
 */
const goesOnMilliseconds = 60_000;
const defaultRetryMilliseconds = (tries: number) => Math.min(mostRetryMilliseconds, 1000 * 2 ** tries);

/**
 * The recordings that wait for the machine, from the first attempt that met trouble to the first that does not. Other
 * recordings use the slot in the meantime: one that needs much disk space must not block those that need little.
 */
export class StalledRecordings {
  readonly #stalled = new Map<string, Stalled>();
  readonly #retries = new Map<string, Retry>();
  #ends = 0;
  readonly #now: () => number;
  readonly #retryMilliseconds: (tries: number) => number;

  /**
   * @param now milliseconds since the epoch
   * @param retryMilliseconds returns the delay before a retry, by the number of attempts
   */
  constructor(now: () => number, retryMilliseconds = defaultRetryMilliseconds) {
    this.#now = now;
    this.#retryMilliseconds = retryMilliseconds;
  }

  /** Number of recordings that have ended. */
  get ends(): number {
    return this.#ends;
  }

  /**
   * Schedules a retry.
   * @param endsBefore number of recordings that had ended when this attempt started
   * @param again called when the recording is to be retried
   */
  tryLater(recordingId: string, trouble: MachineTroubleKind | null, endsBefore: number, again: () => void): void {
    const tries = (this.#stalled.get(recordingId)?.tries ?? 0) + 1;
    this.#stalled.set(recordingId, { trouble, tries, triedAt: null });
    const retry = () => {
      this.#retries.delete(recordingId);
      again();
    };
    this.#retries.set(recordingId, { again: retry, timer: setTimeout(retry, this.#retryMilliseconds(tries)) });
    // The missing disk space may have been released while the attempt was failing.
    if (this.#ends !== endsBefore) this.#tryForRoom();
  }

  /** Notifies that a retry of the recording starts. */
  begins(recordingId: string): void {
    const stalled = this.#stalled.get(recordingId);
    if (stalled !== undefined) this.#stalled.set(recordingId, { ...stalled, triedAt: this.#now() });
  }

  /** Notifies that the recording no longer waits for the machine, and has not ended. */
  resumes(recordingId: string): void {
    this.#stalled.delete(recordingId);
  }

  /** Notifies that the recording has ended. Retries those that wait for disk space, which it has released. */
  ended(recordingId: string): void {
    this.#stalled.delete(recordingId);
    this.#ends += 1;
    this.#tryForRoom();
  }

  /** Retries recordings that wait for disk space, in the order in which they started to wait. */
  #tryForRoom(): void {
    for (const [recordingId, { trouble }] of this.#stalled) {
      const retry = this.#retries.get(recordingId);
      if (trouble !== "no_room" || retry === undefined) continue;
      clearTimeout(retry.timer);
      retry.again();
    }
  }

  /** Returns the trouble of each waiting recording. Recordings whose retry only waits for a slot are left out. */
  troubles(): MachineTroubleKind[] {
    return [...this.#stalled.keys()].flatMap((id) => this.troubleOf(id) ?? []);
  }

  /** Returns the trouble that a recording waits for; null if it does not wait. */
  troubleOf(recordingId: string): MachineTroubleKind | null {
    const stalled = this.#stalled.get(recordingId);
    if (stalled === undefined) return null;
    const { trouble, triedAt } = stalled;
    const waits = triedAt === null ? this.#retries.has(recordingId) : this.#now() - triedAt < goesOnMilliseconds;
    return waits ? trouble : null;
  }

  /** Cancels all retries. */
  stop(): void {
    for (const { timer } of this.#retries.values()) clearTimeout(timer);
  }
}
