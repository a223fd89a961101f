import { and, count, eq, gt, lte, sum } from "drizzle-orm";
import { type Store, tables, transact, type Writer } from "../database/index.ts";
import { utcDay } from "../text/index.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A limit on the number of events within a sliding window. */
interface WindowLimit {
  readonly limit: number;
  readonly windowMilliseconds: number;
}

/** State of a sliding window: the remaining quota, and the wait until it grows. */
export interface WindowState {
  readonly remaining: number;
  /** Milliseconds until one more event is allowed; 0 while some quota remains. */
  readonly retryMilliseconds: number;
}

/**
 * Tolerance by which a recording's charge may grow without a new check of the allowance. It covers the inaccuracy of
 * container headers. Chosen, not measured.
 */
const INACCURACY_SHARE = 0.1;
const INACCURACY_SECONDS = 60;

/** Windows of the limits on creates, in milliseconds. */
export const createWindows = { hour: HOUR, day: DAY } as const;

/**
 * Creates and audio that accounts have used. Stored in the database, so that a restart resets nothing. Creates are
 * counted over sliding windows, so `Retry-After` is exact.
 */
export class Usage {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the state of an account's window of creates. */
  creates(accountId: string, { limit, windowMilliseconds }: WindowLimit, now: number): WindowState {
    const { creates } = tables;
    const since = now - windowMilliseconds;
    const isWithin = and(eq(creates.accountId, accountId), gt(creates.createdAt, since));
    const used = this.#store.select({ used: count() }).from(creates).where(isWithin).get()?.used ?? 0;
    if (used < limit) return { remaining: limit - used, retryMilliseconds: 0 };
    if (limit === 0) return { remaining: 0, retryMilliseconds: windowMilliseconds };
    // One more create fits once this one has left the window. It is the oldest, unless the limit was lowered.
    const leaving = this.#store
      .select({ at: creates.createdAt })
      .from(creates)
      .where(isWithin)
      .orderBy(creates.createdAt)
      .limit(1)
      .offset(used - limit)
      .get();
    return { remaining: 0, retryMilliseconds: (leaving?.at ?? now) - since };
  }

  /** Counts a create, in the transaction that inserts the recording. */
  spendCreate(writer: Writer, accountId: string, now: number): void {
    writer
      .delete(tables.creates)
      .where(lte(tables.creates.createdAt, now - DAY))
      .run();
    writer.insert(tables.creates).values({ accountId, createdAt: now }).run();
  }

  /** Returns the seconds of audio charged to an account on the UTC day of `now`. */
  audioSeconds(accountId: string, now: number): number {
    return this.#audioSecondsOn(accountId, utcDay(now));
  }

  /**
   * Admits a recording once: for an admitted recording it returns true, whatever others use meanwhile. Nothing is
   * charged until the recording's length is known. chargeAudio may then still refuse it.
   * @returns false when the account has no allowance left
   */
  admit(accountId: string, recordingId: string, allowanceSeconds: number, now: number): boolean {
    return transact(this.#store, (transaction) => {
      const admitted = transaction
        .select()
        .from(tables.audioUsage)
        .where(eq(tables.audioUsage.recordingId, recordingId));
      if (admitted.get() !== undefined) return true;
      if (!this.hasAllowance(accountId, allowanceSeconds, now)) return false;
      transaction
        .insert(tables.audioUsage)
        .values({ accountId, day: utcDay(now), recordingId, seconds: 0 })
        .run();
      return true;
    });
  }

  /** Returns whether an account has allowance left on the UTC day of `now`. */
  hasAllowance(accountId: string, allowanceSeconds: number, now: number): boolean {
    return this.audioSeconds(accountId, now) < allowanceSeconds;
  }

  /**
   * Charges an admitted recording for its length, on the day on which it was admitted. The charge replaces an earlier
   * one. A charge that grows beyond the inaccuracy of a container is checked again against that day's other charges. So
   * neither an unknown length nor a false header bypasses the allowance. A refunded recording is not charged.
   * @returns false, and refunds the recording, when the account has no allowance left
   */
  chargeAudio(recordingId: string, seconds: number, allowanceSeconds: number): boolean {
    const { audioUsage } = tables;
    const isRecording = eq(audioUsage.recordingId, recordingId);
    return transact(this.#store, (transaction) => {
      const row = transaction.select().from(audioUsage).where(isRecording).get();
      if (row === undefined) return true;
      const grows = seconds > row.seconds * (1 + INACCURACY_SHARE) + INACCURACY_SECONDS;
      if (grows && this.#audioSecondsOn(row.accountId, row.day) - row.seconds >= allowanceSeconds) {
        transaction.delete(audioUsage).where(isRecording).run();
        return false;
      }
      transaction.update(audioUsage).set({ seconds }).where(isRecording).run();
      return true;
    });
  }

  /**
   * Charges an admitted live session for its sound so far, on the day on which it was admitted.
   * @returns false when the account has used up its allowance; the session is charged all the same
   */
  chargeSession(sessionId: string, seconds: number, allowanceSeconds: number): boolean {
    const { audioUsage } = tables;
    const isSession = eq(audioUsage.recordingId, sessionId);
    return transact(this.#store, (transaction) => {
      const row = transaction.update(audioUsage).set({ seconds }).where(isSession).returning().get();
      return row === undefined || this.#audioSecondsOn(row.accountId, row.day) < allowanceSeconds;
    });
  }

  /** Makes the charge of a live session that of the recording that it becomes. */
  transferCharge(writer: Writer, sessionId: string, recordingId: string): void {
    const { audioUsage } = tables;
    writer.update(audioUsage).set({ recordingId }).where(eq(audioUsage.recordingId, sessionId)).run();
  }

  /** Refunds a recording's charge. */
  refundAudio(recordingId: string): void {
    this.#store.delete(tables.audioUsage).where(eq(tables.audioUsage.recordingId, recordingId)).run();
  }

  #audioSecondsOn(accountId: string, day: string): number {
    const { audioUsage } = tables;
    const row = this.#store
      .select({ seconds: sum(audioUsage.seconds) })
      .from(audioUsage)
      .where(and(eq(audioUsage.accountId, accountId), eq(audioUsage.day, day)))
      .get();
    return Number(row?.seconds ?? 0);
  }
}
