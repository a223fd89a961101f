import { count, eq, sql } from "drizzle-orm";
import { preparedFor, type Store, tables, transact } from "../database/index.ts";
import { ExpectedError } from "../text/index.ts";
import { type AccountLimits, formatAccountLimits } from "../usage/index.ts";
import { type Auditor, audit } from "./audit.ts";

/** Failure of an administrative request. The message gives the reason and the remedy. */
export class AccountsError extends ExpectedError {
  override readonly name = "AccountsError";
}

export type Account = typeof tables.accounts.$inferSelect;
export type Standing = Account["standing"];

/** Account properties that an operator may change. */
export interface AccountChanges {
  readonly standing?: Standing;
  /** Milliseconds since the epoch; null: the subscription never ends. */
  readonly subscribedUntil?: number | null;
  readonly priority?: number;
  /** Replaces all of the account's own limits. */
  readonly limits?: AccountLimits;
}

const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Validates the name of an account or a workspace. @throws {AccountsError} when it is not valid */
export function checkName(name: string): void {
  if (nameShape.test(name)) return;
  throw new AccountsError(
    `"${name}" is not a valid name: use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit`,
  );
}

/**
 * Creates an account. By default it is active, with a subscription that never ends.
 * @throws {AccountsError} when the name is taken or not valid
 */
export function createAccount(store: Store, name: string, by: Auditor, changes: AccountChanges = {}): Account {
  checkName(name);
  return transact(store, (transaction) => {
    const account = transaction
      .insert(tables.accounts)
      .values({
        id: Bun.randomUUIDv7(),
        name,
        standing: changes.standing ?? "active",
        subscribedUntil: changes.subscribedUntil ?? null,
        priority: changes.priority ?? 0,
        limits: formatAccountLimits(changes.limits ?? {}),
        createdAt: by.now,
      })
      .onConflictDoNothing({ target: tables.accounts.name })
      .returning()
      .get();
    if (account === undefined) throw new AccountsError(`an account named ${name} exists already`);
    audit(transaction, by, "accounts.create", account.id, { name });
    return account;
  });
}

/** Changes an account. The change takes effect with the next request. */
export function changeAccount(store: Store, account: Account, by: Auditor, changes: AccountChanges): Account {
  const { limits, ...columns } = changes;
  const values = { ...columns, ...(limits === undefined ? {} : { limits: formatAccountLimits(limits) }) };
  return updateAccount(store, account, values, by, "accounts.change", changes);
}

/** Writes columns of an account, and an entry of the audit log. @throws {AccountsError} when the account is deleted */
export function updateAccount(
  store: Store,
  { id, name }: Account,
  values: Partial<Account>,
  by: Auditor,
  action: string,
  details: object,
): Account {
  return transact(store, (transaction) => {
    const { accounts } = tables;
    const changed = transaction.update(accounts).set(values).where(eq(accounts.id, id)).returning().get();
    if (changed === undefined) throw new AccountsError(`the account ${name} does not exist any more`);
    audit(transaction, by, action, id, { name, ...details });
    return changed;
  });
}

export function listAccounts(store: Store): Account[] {
  return store.select().from(tables.accounts).orderBy(tables.accounts.id).all();
}

export function countAccounts(store: Store): number {
  return store.select({ accounts: count() }).from(tables.accounts).get()?.accounts ?? 0;
}

/** Runs for every request. */
const findById = preparedFor((store) =>
  store
    .select()
    .from(tables.accounts)
    .where(eq(tables.accounts.id, sql.placeholder("id")))
    .prepare(),
);

export function getAccount(store: Store, id: string): Account | null {
  return findById(store).get({ id }) ?? null;
}

/** Returns the account with the given name or id; null if there is none. */
export function findAccount(store: Store, nameOrId: string): Account | null {
  const { accounts } = tables;
  return store.select().from(accounts).where(eq(accounts.name, nameOrId)).get() ?? getAccount(store, nameOrId);
}

/**
 * Returns the account with the given name or id.
 * @throws {AccountsError} when there is none
 */
export function requireAccount(store: Store, nameOrId: string): Account {
  const account = findAccount(store, nameOrId);
  if (account === null) {
    throw new AccountsError(`there is no account ${nameOrId}; create it with: transcribe accounts create ${nameOrId}`);
  }
  return account;
}
