import { eq } from "drizzle-orm";
import { type Auditor, audit } from "../../../accounts/index.ts";
import { type Store, tables } from "../../../database/index.ts";
import { hashPassword } from "../../../users/index.ts";

/**
 * Replaces the operator's password. All sessions that were opened with a password end.
 * @throws {PasswordError} for a password that is too short or too long
 */
export async function setPassword(store: Store, password: string, by: Auditor): Promise<void> {
  const hash = await hashPassword(password);
  const { consolePassword } = tables;
  store.transaction((transaction) => {
    transaction
      .insert(consolePassword)
      .values({ id: 1, hash, setAt: by.now })
      .onConflictDoUpdate({ target: consolePassword.id, set: { hash, setAt: by.now } })
      .run();
    endSessions(transaction);
    audit(transaction, by, "console.password", "console", { set: true });
  });
}

/**
 * Removes the password, so that only links open sessions. Sessions that were opened with it end. Returns false if there
 * was none.
 */
export function removePassword(store: Store, by: Auditor): boolean {
  const { consolePassword } = tables;
  return store.transaction((transaction) => {
    const removed = transaction.delete(consolePassword).returning({ id: consolePassword.id }).get();
    endSessions(transaction);
    if (removed !== undefined) audit(transaction, by, "console.password", "console", { set: false });
    return removed !== undefined;
  });
}

function endSessions(writer: Pick<Store, "delete">): void {
  const { consoleSessions } = tables;
  writer.delete(consoleSessions).where(eq(consoleSessions.enteredBy, "password")).run();
}

/** Returns the stored hash of the password; null if none is set. */
export function passwordHash(store: Store): string | null {
  return store.select({ hash: tables.consolePassword.hash }).from(tables.consolePassword).get()?.hash ?? null;
}
