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
    const row = this.#store
      .select({ seconds: sum(tables.audioUsage.seconds) })
      .from(tables.audioUsage)
      .where(and(eq(tables.audioUsage.accountId, accountId), eq(tables.audioUsage.day, utcDay(now))))
      .get();
    return Number(row?.seconds ?? 0);
  }

  /**
   * Lets a recording begin, once: one that has begun runs to its end, whatever others spend meanwhile.
   * @returns false when the account has no allowance left
   */
  admit(accountId: string, recordingId: string, allowanceSeconds: number, now: number): boolean {
    const admit = (transaction: Pick<Store, "select" | "insert">) => {
      const begun = transaction.select().from(tables.audioUsage).where(eq(tables.audioUsage.recordingId, recordingId));
      if (begun.get() !== undefined) return true;
      if (this.audioSeconds(accountId, now) >= allowanceSeconds) return false;
      transaction
        .insert(tables.audioUsage)
        .values({ accountId, day: utcDay(now), recordingId, seconds: 0 })
        .run();
      return true;
    };
    // It reads before it writes: without the lock from the start, a command's write in between would make it fail.
    return this.#store.transaction(admit, { behavior: "immediate" });
  }

  /** Charges a recording that was admitted, when its length is known. */
  chargeAudio(recordingId: string, seconds: number): void {
    this.#store.update(tables.audioUsage).set({ seconds }).where(eq(tables.audioUsage.recordingId, recordingId)).run();
  }

  /** Gives a recording's charge back. */
  refundAudio(recordingId: string): void {
    this.#store.delete(tables.audioUsage).where(eq(tables.audioUsage.recordingId, recordingId)).run();
  }
}

function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}
