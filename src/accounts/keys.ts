import { randomBytes, timingSafeEqual } from "node:crypto";
import { and, eq, isNull } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";
import type { Account } from "./accounts.ts";
import { AccountsError } from "./errors.ts";
import { formatKey, hashKey, isWellFormedKey, keyHint } from "./key-format.ts";

/** A key as it may be shown: without its secret. */
export type ApiKey = Omit<typeof tables.apiKeys.$inferSelect, "hash">;

const shown = {
  id: tables.apiKeys.id,
  accountId: tables.apiKeys.accountId,
  name: tables.apiKeys.name,
  hint: tables.apiKeys.hint,
  createdAt: tables.apiKeys.createdAt,
  revokedAt: tables.apiKeys.revokedAt,
};

/**
 * Makes a key for an account.
 * @returns the record, and the secret, which is nowhere kept
 */
export function createKey(store: Store, account: Account, name: string, now: number): { key: ApiKey; secret: string } {
  const secret = formatKey(randomBytes(32));
  const key = store
    .insert(tables.apiKeys)
    .values({
      id: Bun.randomUUIDv7(),
      accountId: account.id,
      name,
      hint: keyHint(secret),
      hash: hashKey(secret),
      createdAt: now,
    })
    .returning(shown)
    .get();
  return { key, secret };
}

/** An account's keys, or everyone's, oldest first. */
export function listKeys(store: Store, account: Account | null): ApiKey[] {
  return store
    .select(shown)
    .from(tables.apiKeys)
    .where(account === null ? undefined : eq(tables.apiKeys.accountId, account.id))
    .orderBy(tables.apiKeys.id)
    .all();
}

/**
 * Takes a key out of use from the next request on. Revoking it again changes nothing.
 * @throws {AccountsError} when there is no such key
 */
export function revokeKey(store: Store, id: string, now: number): ApiKey {
  store
    .update(tables.apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(tables.apiKeys.id, id), isNull(tables.apiKeys.revokedAt)))
    .run();
  const key = store.select(shown).from(tables.apiKeys).where(eq(tables.apiKeys.id, id)).get();
  if (key === undefined) throw new AccountsError(`there is no key ${id}; list them with: transcribe keys list`);
  return key;
}

/** The key a request came with, when it is one of ours and in force; null otherwise, for whatever reason. */
export function authenticate(store: Store, secret: string): ApiKey | null {
  if (!isWellFormedKey(secret)) return null;
  const hash = hashKey(secret);
  const row = store.select().from(tables.apiKeys).where(eq(tables.apiKeys.hash, hash)).get();
  if (row === undefined || row.revokedAt !== null) return null;
  const { hash: stored, ...key } = row;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(hash)) ? key : null;
}
