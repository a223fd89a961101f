import { and, eq, getTableColumns, isNotNull, isNull } from "drizzle-orm";
import { type Account, type Auditor, audit } from "../accounts/index.ts";
import { type Store, tables, transact, type values, type Writer } from "../database/index.ts";
import { cleanText, ExpectedError, isEmailAddress } from "../text/index.ts";
import { respelling } from "../transcripts/index.ts";

/** Failure of an administrative request. The message gives the reason and the remedy. */
class UsersError extends ExpectedError {
  override readonly name = "UsersError";
}

/** A user's role: may do everything; sees and changes the recordings of accounts; sees them. */
export type Role = (typeof values.roles)[number];

type Row = typeof tables.users.$inferSelect;

/** A person who signs in to the console, without the password's hash. Times are milliseconds since the epoch. */
export type User = Omit<Row, "passwordHash">;

const { passwordHash: _, ...columns } = getTableColumns(tables.users);
/** The columns of a user. */
export const userColumns = columns;

/** Properties of a user that an operator may change. */
export interface Changes {
  readonly name?: string | undefined;
  readonly role?: Role;
  /** The accounts whose recordings a member or reader sees; `all` includes later ones. */
  readonly accounts?: "all" | readonly Account[];
}

const MAX_NAME_CHARACTERS = 100;

/** Returns the form in which the e-mail address of a user with a password is stored and compared. */
function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

interface NewUser extends Required<Omit<Changes, "name">> {
  readonly email: string;
  /** The e-mail address when omitted, as much of it as a name may have. */
  readonly name?: string | undefined;
  readonly passwordHash: string;
}

/**
 * Creates a user with a password, who signs in by e-mail address.
 * @throws {UsersError} when the address or the name is not valid, or the address is taken
 */
export function createUser(store: Store, values: NewUser, by: Auditor): User {
  const email = normalizeEmail(values.email);
  if (!isEmailAddress(email)) throw new UsersError(`"${email}" is not an e-mail address; write anna@example.org`);
  return transact(store, (transaction) => {
    const user = transaction
      .insert(tables.users)
      .values({
        id: Bun.randomUUIDv7(),
        passwordHash: values.passwordHash,
        name: checkedName(values.name ?? storable(values.email) ?? ""),
        email,
        role: values.role,
        allAccounts: values.accounts === "all",
        createdAt: by.now,
      })
      .onConflictDoNothing()
      .returning(userColumns)
      .get();
    if (user === undefined) throw new UsersError(`a user with the address ${email} exists already`);
    setAccounts(transaction, user.id, values.accounts);
    audit(transaction, by, "users.create", user.id, changeDetails(values));
    return user;
  });
}

export function listUsers(store: Store): User[] {
  return store.select(userColumns).from(tables.users).orderBy(tables.users.id).all();
}

export function getUser(store: Pick<Store, "select">, id: string): User | null {
  return store.select(userColumns).from(tables.users).where(eq(tables.users.id, id)).get() ?? null;
}

/**
 * Returns the user with the given id or e-mail address.
 * @throws {UsersError} when there is none, or an address belongs to several users
 */
export function requireUser(store: Store, idOrEmail: string): User {
  const sought = normalizeEmail(idOrEmail);
  const found = listUsers(store).filter(({ id, email }) => id === sought || email?.toLowerCase() === sought);
  const [user, ...others] = found;
  if (user === undefined) throw new UsersError(`there is no user ${idOrEmail}; list them with: transcribe users list`);
  if (others.length === 0) return user;
  throw new UsersError(
    `${found.length} users have this address; name one by id: ${found.map(({ id }) => id).join(", ")}`,
  );
}

/** Returns the user with a password who has an e-mail address, and the password's hash; null if there is none. */
export function findLocalUser(store: Store, email: string): { readonly user: User; readonly hash: string } | null {
  const isLocal = and(isNull(tables.users.issuer), eq(tables.users.email, normalizeEmail(email)));
  const row = store
    .select({ user: userColumns, hash: tables.users.passwordHash })
    .from(tables.users)
    .where(isLocal)
    .get();
  return row === undefined || row.hash === null ? null : { user: row.user, hash: row.hash };
}

/** Returns the user whom the sign-in provider knows by a subject; null if there is none. */
export function findClaimedUser(store: Store, issuer: string, subject: string): User | null {
  const { users } = tables;
  const isSame = and(eq(users.issuer, issuer), eq(users.subject, subject));
  return store.select(userColumns).from(users).where(isSame).get() ?? null;
}

/** Returns whether there are users with a password. */
export function hasLocalUsers(store: Store): boolean {
  const { users } = tables;
  return store.select({ id: users.id }).from(users).where(isNull(users.issuer)).limit(1).get() !== undefined;
}

/** Returns the ids of the accounts whose recordings a user sees; `all` includes later ones. */
export function accountIdsOf(store: Pick<Store, "select">, { id, role, allAccounts }: User): "all" | readonly string[] {
  if (role === "operator" || allAccounts) return "all";
  const { userAccounts } = tables;
  const rows = store.select().from(userAccounts).where(eq(userAccounts.userId, id)).all();
  return rows.map(({ accountId }) => accountId);
}

/**
 * Changes the role, the accounts or the name of a user with a password, from the next request on.
 * @throws {UsersError} for a user of the sign-in provider, whose role and accounts follow from the settings' rules
 */
export function changeUser(store: Store, user: User, changes: Changes, by: Auditor): User {
  requireLocal(user, "the rules in oidc.rules give the role and the accounts at each sign-in");
  return transact(store, (transaction) => {
    const { name, role, accounts } = changes;
    const columns = {
      ...(name === undefined ? {} : { name: checkedName(name) }),
      ...(role === undefined ? {} : { role }),
      ...(accounts === undefined ? {} : { allAccounts: accounts === "all" }),
    };
    const changed = update(transaction, user, columns);
    if (accounts !== undefined) setAccounts(transaction, user.id, accounts);
    audit(transaction, by, "users.change", user.id, changeDetails(changes));
    return changed;
  });
}

/** Replaces a user's password, which ends the user's sessions. @throws {UsersError} for a user of the provider */
export function setUserPassword(store: Store, user: User, passwordHash: string, by: Auditor): void {
  requireLocal(user, "the sign-in provider checks who this is");
  transact(store, (transaction) => {
    update(transaction, user, { passwordHash });
    endSessions(transaction, user);
    audit(transaction, by, "users.password", user.id, {});
  });
}

/** Disables a user, whose sessions end, or enables the user again. */
export function setDisabled(store: Store, user: User, isDisabled: boolean, by: Auditor): User {
  return transact(store, (transaction) => {
    const changed = update(transaction, user, { disabledAt: isDisabled ? (user.disabledAt ?? by.now) : null });
    if (isDisabled) endSessions(transaction, user);
    audit(transaction, by, isDisabled ? "users.disable" : "users.enable", user.id, {});
    return changed;
  });
}

/** Deletes a user with all that is stored about the person. The audit log keeps the id alone. */
export function deleteUser(store: Store, user: User, by: Auditor): void {
  transact(store, (transaction) => {
    // The references delete the user's accounts and sessions.
    transaction.delete(tables.users).where(eq(tables.users.id, user.id)).run();
    audit(transaction, by, "users.delete", user.id, {});
  });
}

/** Records the time of a sign-in. */
export function noteSignIn(writer: Pick<Store, "update">, { id }: User, now: number): void {
  writer.update(tables.users).set({ lastSignInAt: now }).where(eq(tables.users.id, id)).run();
}

/** Returns the author of a user's changes, by whom the audit log refers to the user. */
export function actorOf({ id }: Pick<User, "id">): string {
  return `user:${id}`;
}

/**
 * Returns the author of a change for people. For operators: `Name (e-mail)` of a user, `deleted user ID` for one who is
 * gone, and the text itself for everybody else, such as a user of the operating system. Others see neither addresses, of
 * which a name may be one, nor users of the operating system. All see the names of keys.
 */
export function nameOfActor(store: Store, actor: string, readers: "operators" | "others" = "operators"): string {
  if (actor === respelling.REPLACEMENTS_AUTHOR) return "the account's replacements";
  const isForOperators = readers === "operators";
  const keyId = /^key:([0-9a-f-]{36})$/.exec(actor)?.[1];
  if (keyId !== undefined) return nameOfKey(store, keyId);
  const id = /^user:([0-9a-f-]{36})$/.exec(actor)?.[1];
  if (id === undefined) return isForOperators ? actor : "the operator";
  const user = getUser(store, id);
  if (user === null) return isForOperators ? `deleted user ${id}` : "a deleted user";
  if (!isForOperators) return user.name.replace(/(?<=.)@.*$/, "");
  return user.email === null || user.email === user.name ? user.name : `${user.name} (${user.email})`;
}

function nameOfKey(store: Store, id: string): string {
  const { apiKeys } = tables;
  const row = store.select({ name: apiKeys.name }).from(apiKeys).where(eq(apiKeys.id, id)).get();
  return row === undefined ? "a deleted key" : `the key ${row.name}`;
}

/** Replaces the accounts that a user sees. */
export function setAccounts(writer: Writer, userId: string, accounts: Required<Changes>["accounts"]): void {
  const { userAccounts } = tables;
  writer.delete(userAccounts).where(eq(userAccounts.userId, userId)).run();
  if (accounts === "all") return;
  for (const accountId of new Set(accounts.map(({ id }) => id)))
    writer.insert(userAccounts).values({ userId, accountId }).run();
}

/** Returns the details of a change for the audit log, which never has a name or an address. */
export function changeDetails({ role, accounts }: Changes): object {
  return {
    ...(role === undefined ? {} : { role }),
    ...(accounts === undefined ? {} : { accounts: accounts === "all" ? accounts : accounts.map(({ name }) => name) }),
  };
}

function update(writer: Writer, { id }: User, values: Partial<Row>): User {
  const { users } = tables;
  const user =
    Object.keys(values).length === 0
      ? getUser(writer, id)
      : writer.update(users).set(values).where(eq(users.id, id)).returning(userColumns).get();
  if (user === undefined || user === null) throw new UsersError(`the user ${id} does not exist any more`);
  return user;
}

/** Ends the sessions of a user. */
export function endSessions(writer: Writer, { id }: Pick<User, "id">): void {
  const { consoleSessions } = tables;
  writer
    .delete(consoleSessions)
    .where(and(isNotNull(consoleSessions.userId), eq(consoleSessions.userId, id)))
    .run();
}

function requireLocal({ issuer }: User, why: string): void {
  if (issuer !== null) throw new UsersError(`this user signs in by ${issuer}: ${why}`);
}

/** Returns a person's name as it is stored. @throws {UsersError} when it is not valid */
export function checkedName(text: string): string {
  const name = cleanText(text);
  if (name !== "" && [...name].length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(text.trim())) return name;
  throw new UsersError(`a name has 1 to ${MAX_NAME_CHARACTERS} characters, on one line`);
}

/** Returns a claimed name or address in a form that can be stored: on one line, and not endless; null if it is empty. */
export function storable(text: string, characters: number = MAX_NAME_CHARACTERS): string | null {
  const line = [...cleanText(text)].slice(0, characters).join("").trim();
  return line === "" ? null : line;
}
