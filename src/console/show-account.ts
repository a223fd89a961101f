import {
  type ApiKey,
  createWindows,
  listKeys,
  listWorkspaces,
  parseAccountLimits,
  type Account as StoredAccount,
} from "../accounts/index.ts";
import type { Account, Key, Named } from "./contract.ts";
import type { ConsoleServices } from "./services.ts";
import { optionalTimestamp, timestamp } from "./shown.ts";

/** An account with what it has spent of its limits, its workspaces and its keys. */
export function showAccount(services: ConsoleServices, account: StoredAccount): Account {
  const { store, now } = services;
  const workspaces = listWorkspaces(store, account).map(({ id, name }) => ({ id, name }));
  return {
    id: account.id,
    name: account.name,
    standing: account.standing,
    subscribed_until: optionalTimestamp(account.subscribedUntil),
    priority: account.priority,
    created_at: timestamp(account.createdAt),
    ...usageOf(services, account),
    workspaces,
    keys: listKeys(store, account).map((key) => showKey(key, workspaces, now())),
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
      recordings_per_account: { used: recordings.countOpen(id), limit: limit.recordings_per_account },
      creates_per_hour: creates(limit.creates_per_hour, createWindows.hour),
      creates_per_day: creates(limit.creates_per_day, createWindows.day),
    },
    requests_per_minute: limit.requests_per_minute,
  };
}

export function showKey(key: ApiKey, workspaces: readonly Named[], now: number): Key {
  const { workspaceId, revokedAt, expiresAt } = key;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: revokedAt !== null ? "revoked" : expiresAt !== null && expiresAt <= now ? "expired" : "active",
    scopes: [...key.scopes],
    workspace: workspaces.find(({ id }) => id === workspaceId) ?? null,
    created_at: timestamp(key.createdAt),
    expires_at: optionalTimestamp(expiresAt),
    revoked_at: optionalTimestamp(revokedAt),
    last_used_at: optionalTimestamp(key.lastUsedAt),
  };
}
