import { eq } from "drizzle-orm";
import { type Auditor, audit } from "../../accounts/index.ts";
import { type Store, tables } from "../../storage/index.ts";

/** Fewer characters can be guessed from a stolen database, whatever hash stands there. */
export const leastPasswordLength = 12;
/** Nobody types more, and every one of them is hashed. */
const mostPasswordLength = 256;

/** The password can't be taken; the message says why. */
export class PasswordError extends Error {
  override readonly name = "PasswordError";
}

/**
 * Sets the operator's password in place of the one before. Whoever entered by that is signed out.
 * @throws {PasswordError} for one that is too short or too long
 */
export async function setPassword(store: Store, password: string, by: Auditor): Promise<void> {
  const length = [...password].length;
  if (length < leastPasswordLength || length > mostPasswordLength) {
    throw new PasswordError(`a password has ${leastPasswordLength} to ${mostPasswordLength} characters`);
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

/** Takes the password away: links alone lead in, and whoever entered by it is signed out. False when there was none. */
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

/** Whether it is the operator's password; it takes a few hundredths of a second, aside. */
export async function isPassword(store: Store, password: string): Promise<boolean> {
  const hash = passwordHash(store);
  return hash !== null && (await Bun.password.verify(password, hash));
}

function endSessions(writer: Pick<Store, "delete">): void {
  const { consoleSessions } = tables;
  writer.delete(consoleSessions).where(eq(consoleSessions.enteredBy, "password")).run();
}

/** The stored hash of the password; null where none was set. */
export function passwordHash(store: Store): string | null {
  return store.select({ hash: tables.consolePassword.hash }).from(tables.consolePassword).get()?.hash ?? null;
}
