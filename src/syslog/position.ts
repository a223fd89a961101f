import { asc, count, gt, min } from "drizzle-orm";
import { deferSync, type Store, tables } from "../database/index.ts";
import type { AuditEntry } from "./message.ts";

const { auditForwarding, auditLog } = tables;

/** Returns the id of the last entry that the receiver has confirmed; 0 before the first one. */
export function readPosition(store: Store): number {
  return store.select({ position: auditForwarding.position }).from(auditForwarding).get()?.position ?? 0;
}

/**
 * Stores that the receiver has confirmed all entries up to a position. After a power cut, some entries may be sent again.
 */
export function storePosition(store: Store, position: number): void {
  const values = { id: 1, position };
  deferSync(store, () =>
    store
      .insert(auditForwarding)
      .values(values)
      .onConflictDoUpdate({ target: auditForwarding.id, set: { position } })
      .run(),
  );
}

/** Returns the first entries after a position. Each new one has the greatest id, and the latest one is never removed. */
export function entriesAfter(store: Store, position: number, most: number): AuditEntry[] {
  return store.select().from(auditLog).where(gt(auditLog.id, position)).orderBy(asc(auditLog.id)).limit(most).all();
}

/** The entries that the receiver has not confirmed yet. */
export interface PendingEntries {
  readonly count: number;
  /** Time of the oldest one; null if there is none. */
  readonly since: number | null;
}

/** Returns how many entries the receiver has not confirmed, and since when. */
export function pendingEntries(store: Store): PendingEntries {
  const facts = { count: count(), since: min(auditLog.at) };
  const row = store
    .select(facts)
    .from(auditLog)
    .where(gt(auditLog.id, readPosition(store)))
    .get();
  return row ?? { count: 0, since: null };
}
