import { randomBytes, timingSafeEqual } from "node:crypto";
import { and, eq, isNull, sql } from "drizzle-orm";
import { type Account, AccountsError, type Auditor, audit, type Workspace } from "../accounts/index.ts";
import { preparedFor, type Store, tables, transact, values, type Writer } from "../database/index.ts";
import { cleanText } from "../text/index.ts";
import { formatKey, hashKey, isWellFormedKey, keyHint } from "./key-format.ts";

/** Permissions that a key can have. */
export const { defaultScopes, scopes } = values;
export type Scope = (typeof scopes)[number];

/**
 * Validates scope names and returns each once, in the order of `scopes`.
 * @throws {AccountsError} that lists the valid scopes
 */
function parseScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined || names.length === 0) {
    throw new AccountsError(`"${unknown ?? ""}" is not a scope; the scopes are ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}

type Row = typeof tables.apiKeys.$inferSelect;

/** A key without its secret. Times are milliseconds since the epoch. */
export type ApiKey = Omit<Row, "hash" | "scopes"> & { readonly scopes: readonly Scope[] };

interface NewKey {
  readonly name: string;
  /** Default: `defaultScopes`. */
  readonly scopes?: readonly Scope[];
  /** The only workspace that the key can access. */
  readonly workspace?: Workspace | null;
  readonly expiresAt?: number | null;
}

/** Maximum length of a key's name, in characters. */
const MAX_KEY_NAME_CHARACTERS = 100;

/** Returns a key's name as it is stored. @throws {AccountsError} when it is not valid */
export function checkedKeyName(text: string): string {
  const name = cleanText(text);
  if (name !== "" && [...name].length <= MAX_KEY_NAME_CHARACTERS && !/\p{Cc}/u.test(text.trim())) return name;
  throw new AccountsError(`a key's name has 1 to ${MAX_KEY_NAME_CHARACTERS} characters, on one line`);
}

/**
 * Creates a key for an account.
 * @throws {AccountsError} when its name is not valid
 * @returns the record, and the secret, which is not stored anywhere
 */
export function createKey(
  store: Store,
  account: Account,
  values: NewKey,
  by: Auditor,
): { key: ApiKey; secret: string } {
  const name = checkedKeyName(values.name);
  return transact(store, (transaction) => {
    const { workspace, expiresAt = null } = values;
    const rights = {
      accountId: account.id,
      workspaceId: workspace?.id ?? null,
      scopes: values.scopes ?? defaultScopes,
    };
    const made = insertKey(transaction, { ...rights, name, expiresAt }, by.now);
    audit(transaction, by, "keys.create", made.key.id, { account: account.name, name });
    return made;
  });
}

/** Stores a key with a new secret. */
function insertKey(
  writer: Writer,
  values: Pick<ApiKey, "accountId" | "workspaceId" | "name" | "scopes" | "expiresAt">,
  createdAt: number,
): { key: ApiKey; secret: string } {
  const secret = formatKey(randomBytes(32));
  const made = { id: Bun.randomUUIDv7(), hint: keyHint(secret), hash: hashKey(secret), createdAt };
  const row = { ...values, ...made, scopes: JSON.stringify(values.scopes) };
  return { key: toKey(writer.insert(tables.apiKeys).values(row).returning().get()), secret };
}

/** Returns the keys of an account, or of all accounts, oldest first. */
export function listKeys(store: Store, account: Account | null): ApiKey[] {
  return store
    .select()
    .from(tables.apiKeys)
    .where(account === null ? undefined : eq(tables.apiKeys.accountId, account.id))
    .orderBy(tables.apiKeys.id)
    .all()
    .map(toKey);
}

/** Returns a key by its id. @throws {AccountsError} when there is none */
export function requireKey(store: Store, id: string): ApiKey {
  const key = findKey(store, id);
  if (key === null) throw new AccountsError(`there is no key ${id}; list them with: transcribe keys list`);
  return key;
}

function findKey(store: Store, id: string): ApiKey | null {
  const row = store.select().from(tables.apiKeys).where(eq(tables.apiKeys.id, id)).get();
  return row === undefined ? null : toKey(row);
}

/**
 * Revokes a key from the next request on. Revoking it again changes nothing.
 * @throws {AccountsError} when there is no such key
 */
export function revokeKey(store: Store, id: string, by: Auditor): ApiKey {
  return transact(store, (transaction) => {
    const revoked = transaction
      .update(tables.apiKeys)
      .set({ revokedAt: by.now })
      .where(and(eq(tables.apiKeys.id, id), isNull(tables.apiKeys.revokedAt)))
      .returning()
      .get();
    if (revoked === undefined) return requireKey(store, id);
    audit(transaction, by, "keys.revoke", id, { name: revoked.name });
    return toKey(revoked);
  });
}

/**
 * Creates a key with the rights of an existing one. The old key stays valid for a while, so no client loses access.
 * @param overlapMilliseconds how long the old key is still accepted; its expiry is never extended
 * @throws {AccountsError} when the old key does not exist, is revoked or expired, or was rotated already
 */
export function rotateKey(
  store: Store,
  id: string,
  overlapMilliseconds: number,
  by: Auditor,
): { key: ApiKey; secret: string; old: ApiKey } {
  return transact(store, () => {
    const old = requireKey(store, id);
    if (!isActive(old, by.now)) throw new AccountsError(`key ${id} is revoked or expired; create a new key instead`);
    if (old.replacedBy !== null) throw new AccountsError(`key ${id} was rotated already; rotate ${old.replacedBy}`);
    const { accountId, workspaceId, name, scopes } = old;
    const made = insertKey(store, { accountId, workspaceId, name, scopes, expiresAt: old.expiresAt }, by.now);
    const replacedBy = made.key.id;
    const expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, by.now + overlapMilliseconds);
    store.update(tables.apiKeys).set({ expiresAt, replacedBy }).where(eq(tables.apiKeys.id, id)).run();
    audit(store, by, "keys.rotate", id, { name, replacedBy, expiresAt });
    return { ...made, old: { ...old, expiresAt, replacedBy } };
  });
}

/** Runs for every request. */
const findByHash = preparedFor((store) =>
  store
    .select()
    .from(tables.apiKeys)
    .where(eq(tables.apiKeys.hash, sql.placeholder("hash")))
    .prepare(),
);

/** Returns the key with the given secret if it exists and is active. Returns null otherwise, for whatever reason. */
export function authenticate(store: Store, secret: string, now: number): ApiKey | null {
  if (!isWellFormedKey(secret)) return null;
  const hash = hashKey(secret);
  const row = findByHash(store).get({ hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return null;
  const key = toKey(row);
  return isActive(key, now) ? key : null;
}

/** Returns the key with the given id; null when it is revoked, expired or deleted. */
export function activeKey(store: Store, id: string, now: number): ApiKey | null {
  const key = findKey(store, id);
  return key !== null && isActive(key, now) ? key : null;
}

function isActive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function toKey({ hash: _, ...row }: Row): ApiKey {
  return { ...row, scopes: parseScopes(JSON.parse(row.scopes)) };
}
