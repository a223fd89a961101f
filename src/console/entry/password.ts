import { eq } from "drizzle-orm";
import { type Auditor, audit } from "../../accounts/index.ts";
import { type Store, tables } from "../../storage/index.ts";
import { ExpectedError } from "../../text/index.ts";

/** Minimum length. A shorter password can be guessed from a stolen database, whatever the hash function is. */
export const MIN_PASSWORD_LENGTH = 12;
/** Maximum length. Nobody types a longer password, and every character is hashed. */
const MAX_PASSWORD_LENGTH = 256;

/** A password that is not accepted; the message gives the reason. */
export class PasswordError extends ExpectedError {
  override readonly name = "PasswordError";
}

/**
 * Replaces the operator's password. All sessions that were opened with a password end.
 * @throws {PasswordError} for a password that is too short or too long
 */
export async function setPassword(store: Store, password: string, by: Auditor): Promise<void> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw new PasswordError(`a password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  }
  const hash = await Bun.password.hash(password, "argon2id");
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

export function hasPassword(store: Store): boolean {
  return passwordHash(store) !== null;
}

/** Returns whether a password is the operator's. The check takes a few hundredths of a second on another thread. */
export async function isPassword(store: Store, password: string): Promise<boolean> {
  const hash = passwordHash(store);
  return hash !== null && (await Bun.password.verify(password, hash));
}

function endSessions(writer: Pick<Store, "delete">): void {
  const { consoleSessions } = tables;
  writer.delete(consoleSessions).where(eq(consoleSessions.enteredBy, "password")).run();
}

/** Returns the stored hash of the password; null if none is set. */
export function passwordHash(store: Store): string | null {
  return store.select({ hash: tables.consolePassword.hash }).from(tables.consolePassword).get()?.hash ?? null;
}
