import { and, count, eq, gt, lte, min, sum } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** A limit over a window that slides: so many within so long. */
export interface WindowLimit {
  readonly limit: number;
  readonly windowMilliseconds: number;
}

/** How a window stands: what is left, and when a place in it gets free. */
export interface WindowState {
  readonly remaining: number;
  /** Milliseconds until there is one more; 0 while something is left. */
  readonly retryMilliseconds: number;
}

/** How much longer than its container claims a recording may be without being admitted anew. Chosen, not measured. */
const inaccuracyShare = 0.1;
const inaccuracySeconds = 60;

export const createWindows = { hour, day } as const;

/**
 * What accounts have spent over hours and days, in the database, so that a restart gives nothing back. Counted over
 * windows that slide, so `Retry-After` is exact.
 */
export class Usage {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** How an account stands with its creates. */
  creates(accountId: string, { limit, windowMilliseconds }: WindowLimit, now: number): WindowState {
    const since = now - windowMilliseconds;
    const rows = this.#store
      .select({ used: count(), oldest: min(tables.creates.createdAt) })
      .from(tables.creates)
      .where(and(eq(tables.creates.accountId, accountId), gt(tables.creates.createdAt, since)))
      .get();
    const used = rows?.used ?? 0;
    if (used < limit) return { remaining: limit - used, retryMilliseconds: 0 };
    if (limit === 0) return { remaining: 0, retryMilliseconds: windowMilliseconds };
    // The place that gets free first is that of the oldest create which has to leave for one more to fit.
    const leaving = this.#store
      .select({ at: tables.creates.createdAt })
      .from(tables.creates)
      .where(and(eq(tables.creates.accountId, accountId), gt(tables.creates.createdAt, since)))
      .orderBy(tables.creates.createdAt)
      .limit(1)
      .offset(used - limit)
      .get();
    return { remaining: 0, retryMilliseconds: (leaving?.at ?? now) - since };
  }

  /** Enters a create, in the transaction that makes the recording. */
  spendCreate(writer: Pick<Store, "insert" | "delete">, accountId: string, now: number): void {
    writer
      .delete(tables.creates)
      .where(lte(tables.creates.createdAt, now - day))
      .run();
    writer.insert(tables.creates).values({ accountId, createdAt: now }).run();
  }

  /** Seconds of audio an account was charged for on a UTC day. */
  audioSeconds(accountId: string, now: number): number {
    return this.#audioSecondsOn(accountId, utcDay(now));
  }

  /**
   * Lets a recording begin, once: one that has begun runs to its end, whatever others spend meanwhile. It is charged nothing
   * before its length is known, see chargeAudio.
   * @returns false when the account has no allowance left
   */
  admit(accountId: string, recordingId: string, allowanceSeconds: number, now: number): boolean {
    const admit = (transaction: Pick<Store, "select" | "insert">) => {
      const begun = transaction.select().from(tables.audioUsage).where(eq(tables.audioUsage.recordingId, recordingId));
      if (begun.get() !== undefined) return true;
      if (!this.hasAllowance(accountId, allowanceSeconds, now)) return false;
      transaction
        .insert(tables.audioUsage)
        .values({ accountId, day: utcDay(now), recordingId, seconds: 0 })
        .run();
      return true;
    };
    // It reads before it writes: without the lock from the start, a command's write in between would make it fail.
    return this.#store.transaction(admit, { behavior: "immediate" });
  }

  /** Returns whether an account has allowance left on a UTC day. */
  hasAllowance(accountId: string, allowanceSeconds: number, now: number): boolean {
    return this.audioSeconds(accountId, now) < allowanceSeconds;
  }

  /**
   * Charges an admitted recording for its length, in place of an earlier charge, on the day on which it was admitted. A charge
   * that grows by more than a container is inaccurate is admitted anew against the other recordings' charges of that day, so
   * neither an unknown length nor a header that lies passes the allowance. Charges nothing when the recording's charge was
   * refunded meanwhile.
   * @returns false, and refunds the recording, when the account has no allowance left
   */
  chargeAudio(recordingId: string, seconds: number, allowanceSeconds: number): boolean {
    const { audioUsage } = tables;
    const isRecording = eq(audioUsage.recordingId, recordingId);
    const charge = (transaction: Pick<Store, "select" | "update" | "delete">) => {
      const row = transaction.select().from(audioUsage).where(isRecording).get();
      if (row === undefined) return true;
      if (seconds > row.seconds * (1 + inaccuracyShare) + inaccuracySeconds) {
        if (this.#audioSecondsOn(row.accountId, row.day) - row.seconds >= allowanceSeconds) {
          transaction.delete(audioUsage).where(isRecording).run();
          return false;
        }
      }
      transaction.update(audioUsage).set({ seconds }).where(isRecording).run();
      return true;
    };
    // It reads before it writes: without the lock from the start, a command's write in between would make it fail.
    return this.#store.transaction(charge, { behavior: "immediate" });
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

function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}
