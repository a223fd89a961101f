import {
  type ApiKey,
  createWindows,
  listKeys,
  listWorkspaces,
  parseAccountLimits,
  type Account as StoredAccount,
} from "../accounts/index.ts";
import { timestamp } from "../http/index.ts";
import type { Account, Key } from "./contract/accounts.ts";
import type { Named } from "./contract/shared.ts";
import { optionalTimestamp } from "./optional-timestamp.ts";
import { named } from "./owners.ts";
import type { ConsoleServices } from "./services.ts";

/** Returns an account with the used part of its limits, its workspaces and its keys. */
export function showAccount(services: ConsoleServices, account: StoredAccount): Account {
  const { store, now } = services;
  const workspaces = listWorkspaces(store, account).map(named);
  return {
    id: account.id,
    name: account.name,
    standing: account.standing,
    subscribed_until: optionalTimestamp(account.subscribedUntil),
    priority: account.priority,
    created_at: timestamp(account.createdAt),
    ...usageOf(services, account),
    workspaces,
    keys: listKeys(store, account).map((key) => {
      const workspace = workspaces.find(({ id }) => id === key.workspaceId);
      return showKey(key, workspace ?? null, now());
    }),
  };
}

function usageOf(
  { settings, usage, recordings, now }: ConsoleServices,
  { id, limits }: StoredAccount,
): Pick<Account, "usage" | "requests_per_minute"> {
  const limit = { ...settings().limits, ...parseAccountLimits(limits) };
  const creates = (most: number, windowMilliseconds: number) => {
    const { remaining } = usage.creates(id, { limit: most, windowMilliseconds }, now());
    return { used: most - remaining, limit: most };
  };
  return {
    usage: {
      audio_minutes_per_day: { used: usage.audioSeconds(id, now()) / 60, limit: limit.audio_minutes_per_day },
      recordings_per_account: { used: recordings.open.countOf(id), limit: limit.recordings_per_account },
      creates_per_hour: creates(limit.creates_per_hour, createWindows.hour),
      creates_per_day: creates(limit.creates_per_day, createWindows.day),
    },
    requests_per_minute: limit.requests_per_minute,
  };
}

/**
 * Returns the public data of a key.
 * @param workspace the only workspace that the key can access; null for all of its account's
 */
export function showKey(key: ApiKey, workspace: Named | null, now: number): Key {
  const { revokedAt, expiresAt } = key;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: revokedAt !== null ? "revoked" : expiresAt !== null && expiresAt <= now ? "expired" : "active",
    scopes: [...key.scopes],
    workspace: workspace === null ? null : named(workspace),
    created_at: timestamp(key.createdAt),
    expires_at: optionalTimestamp(expiresAt),
    revoked_at: optionalTimestamp(revokedAt),
    last_used_at: optionalTimestamp(key.lastUsedAt),
  };
}
