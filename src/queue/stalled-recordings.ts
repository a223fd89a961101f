import type { MachineTroubleKind } from "../disk/index.ts";

/** A recording that could not be resumed. */
interface Stalled {
  /** Null for a fault of the program. */
  readonly trouble: MachineTroubleKind | null;
  readonly attempts: number;
  /** Start of the last retry, in milliseconds since the epoch; null while it waits for the next one. */
  readonly retriedAt: number | null;
}

interface Retry {
  readonly run: () => void;
  readonly timer: Timer;
}

const MAX_RETRY_MILLISECONDS = 60_000;
/** Time after which a resumed recording counts as free of machine trouble, even if hours of work are left. */
const RECOVERED_MILLISECONDS = 60_000;
const retryDelay = (attempts: number) => Math.min(MAX_RETRY_MILLISECONDS, 1000 * 2 ** attempts);

/**
 * The recordings that wait for the machine, from the first attempt that met trouble to the first that does not. Other
 * recordings use the slot in the meantime: one that needs much disk space must not block those that need little.
 */
export class StalledRecordings {
  readonly #stalled = new Map<string, Stalled>();
  readonly #retries = new Map<string, Retry>();
  #ends = 0;
  readonly #now: () => number;
  readonly #retryMilliseconds: (attempts: number) => number;

  /**
   * @param now milliseconds since the epoch
   * @param retryMilliseconds returns the delay before a retry, by the number of attempts
   */
  constructor(now: () => number, retryMilliseconds = retryDelay) {
    this.#now = now;
    this.#retryMilliseconds = retryMilliseconds;
  }

  /** Number of recordings that have ended. */
  get ends(): number {
    return this.#ends;
  }

  /** Returns whether a recording is stalled. */
  has(recordingId: string): boolean {
    return this.#stalled.has(recordingId);
  }

  /**
   * Schedules a retry.
   * @param endsBefore number of recordings that had ended when this attempt started
   * @param start called when the recording is to be retried
   */
  retryLater(recordingId: string, trouble: MachineTroubleKind | null, endsBefore: number, start: () => void): void {
    const attempts = (this.#stalled.get(recordingId)?.attempts ?? 0) + 1;
    this.#stalled.set(recordingId, { trouble, attempts, retriedAt: null });
    const retry = () => {
      this.#retries.delete(recordingId);
      start();
    };
    this.#retries.set(recordingId, { run: retry, timer: setTimeout(retry, this.#retryMilliseconds(attempts)) });
    // The missing disk space may have been released while the attempt was failing.
    if (this.#ends !== endsBefore) this.#retryForSpace();
  }

  /** Notifies that a retry of the recording starts. */
  started(recordingId: string): void {
    const stalled = this.#stalled.get(recordingId);
    if (stalled !== undefined) this.#stalled.set(recordingId, { ...stalled, retriedAt: this.#now() });
  }

  /** Notifies that the recording no longer waits for the machine, and has not ended. */
  resumed(recordingId: string): void {
    this.#stalled.delete(recordingId);
  }

  /** Notifies that the recording has ended. Retries those that wait for disk space, which it has released. */
  ended(recordingId: string): void {
    this.#stalled.delete(recordingId);
    this.#ends += 1;
    this.#retryForSpace();
  }

  /** Retries recordings that wait for disk space, in the order in which they started to wait. */
  #retryForSpace(): void {
    for (const [recordingId, { trouble }] of this.#stalled) {
      const retry = this.#retries.get(recordingId);
      if (trouble !== "no_room" || retry === undefined) continue;
      clearTimeout(retry.timer);
      retry.run();
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
    const { trouble, retriedAt } = stalled;
    const waits =
      retriedAt === null ? this.#retries.has(recordingId) : this.#now() - retriedAt < RECOVERED_MILLISECONDS;
    return waits ? trouble : null;
  }

  /** Cancels all retries. */
  stop(): void {
    for (const { timer } of this.#retries.values()) clearTimeout(timer);
  }
}
