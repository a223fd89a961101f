import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { asc, desc, lte } from "drizzle-orm";
import { type Store, tables, transact, type Writer } from "../database/index.ts";

/** Author and time of a change. */
export interface Auditor {
  /** User of the operating system. */
  readonly actor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type AuditEntry = typeof tables.auditLog.$inferSelect;

/** Adds a change to the audit log, in the transaction that makes the change. Details never hold a secret. */
export function audit(
  writer: Pick<Writer, "insert">,
  { actor, now }: Auditor,
  action: string,
  subject: string,
  details: object,
): void {
  writer
    .insert(tables.auditLog)
    .values({ at: now, actor, action, subject, details: JSON.stringify(details) })
    .run();
}

/** Returns the last entries, newest first. */
export function readAudit(store: Store, limit: number): AuditEntry[] {
  return store.select().from(tables.auditLog).orderBy(desc(tables.auditLog.id)).limit(limit).all();
}

const DAY_MILLISECONDS = 86_400_000;
/** Number of entries removed at once, in some milliseconds for which other writers wait. */
const ENTRIES_AT_ONCE = 500;

/**
 * Removes the oldest entries of the audit log in batches, once a day: it begins when the oldest one is a day older than
 * the log must have. An entry records the removal. Entries behind a younger one stay, as does the latest entry, so that
 * the numbers have no gaps and none is used again.
 * @param days age of the entries that stay
 * @param through id of the last entry that may be removed; null for any
 */
export async function trimAuditLog(store: Store, now: number, days: number, through: number | null): Promise<void> {
  const { auditLog } = tables;
  const before = now - days * DAY_MILLISECONDS;
  const [oldest] = store
    .select({ id: auditLog.id, at: auditLog.at })
    .from(auditLog)
    .orderBy(asc(auditLog.id))
    .limit(1)
    .all();
  const isDue = oldest !== undefined && oldest.at < before - DAY_MILLISECONDS && oldest.id <= (through ?? oldest.id);
  if (!isDue) return;
  // Written first, so that it is there whenever the removal ends.
  audit(store, { actor: "server", now }, "audit_log.trim", String(oldest.id), {
    before: new Date(before).toISOString(),
  });
  while (trimSome(store, before, through)) await yieldToEventLoop();
}

/** Removes a batch of entries. @returns whether there may be more */
function trimSome(store: Store, before: number, through: number | null): boolean {
  const { id, at } = tables.auditLog;
  return transact(store, (writer) => {
    const first = writer
      .select({ id, at })
      .from(tables.auditLog)
      .orderBy(asc(id))
      .limit(ENTRIES_AT_ONCE + 1)
      .all();
    const end = first.findIndex((entry) => entry.at >= before || (through !== null && entry.id > through));
    // The latest entry is in the batch if the batch is not full.
    const removed = first.slice(0, end < 0 ? -1 : end);
    const last = removed.at(-1);
    if (last === undefined) return false;
    writer.delete(tables.auditLog).where(lte(id, last.id)).run();
    return removed.length === ENTRIES_AT_ONCE;
  });
}
