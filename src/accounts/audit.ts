import { desc } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";

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
