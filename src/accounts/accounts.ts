import { eq } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";
import { AccountsError } from "./errors.ts";

export type Account = typeof tables.accounts.$inferSelect;

const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Makes an account.
 * @param now milliseconds since the epoch
 * @throws {AccountsError} when the name is taken or can't be one
 */
export function createAccount(store: Store, name: string, now: number): Account {
  if (!nameShape.test(name)) {
    throw new AccountsError(
      `"${name}" can't be an account's name: 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first`,
    );
  }
  const account = store
    .insert(tables.accounts)
    .values({ id: Bun.randomUUIDv7(), name, createdAt: now })
    .onConflictDoNothing({ target: tables.accounts.name })
    .returning()
    .get();
  if (account === undefined) throw new AccountsError(`there is an account named ${name} already`);
  return account;
}

export function listAccounts(store: Store): Account[] {
  return store.select().from(tables.accounts).orderBy(tables.accounts.id).all();
}

/**
 * The account of that name or id.
 * @throws {AccountsError} when there is none
 */
export function requireAccount(store: Store, nameOrId: string): Account {
  const account =
    store.select().from(tables.accounts).where(eq(tables.accounts.name, nameOrId)).get() ??
    store.select().from(tables.accounts).where(eq(tables.accounts.id, nameOrId)).get();
  if (account === undefined) {
    throw new AccountsError(`there is no account ${nameOrId}; make one with: transcribe accounts create ${nameOrId}`);
  }
  return account;
}
