import {
  AccountsError,
  type Auditor,
  changeAccount,
  getWorkspace,
  listAccounts,
  listWorkspaces,
  type Account as StoredAccount,
} from "../../../accounts/index.ts";
import { timestamp } from "../../../api-contract/index.ts";
import type { Store } from "../../../database/index.ts";
import { decodeCursor, encodeCursor, PageFiller } from "../../../http/index.ts";
import {
  type ApiKey,
  checkedKeyName,
  createKey,
  defaultScopes,
  listKeys,
  revokeKey,
  scopes,
} from "../../../keys/index.ts";
import { auditorOf } from "../../../library/index.ts";
import { countReplacements } from "../../../replacements/index.ts";
import { createWindows, parseAccountLimits } from "../../../usage/index.ts";
import type { Voices } from "../../../voices/index.ts";
import { listWebhooks } from "../../../webhooks/index.ts";
import type { Account, accountRoutes, Key, Named, Retention } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import { MAX_WORKSPACES, requireAccount, requireWorkspace } from "../lookups.ts";
import { operatorOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named, optionalTimestamp } from "../show-recording.ts";

/** Number of an account's keys in a response: those that can be used, then the latest others. */
const MAX_KEYS = 500;

const isAccountId = (text: string) => /^[\w-]{1,64}$/.test(text);
const dayMilliseconds = 86_400_000;

/** Creates the handlers that list accounts with their usage, and create and revoke keys. */
export function accountHandlers(services: ConsoleServices, voices: Voices): Handlers<typeof accountRoutes> {
  const { store, now } = services;
  return {
    accounts({ query: { cursor, limit } }) {
      const after = decodeCursor("a", isAccountId, cursor);
      const rows = listAccounts(store).filter(({ id }) => after === null || id > after);
      const { entries, last } = PageFiller.fill(rows, limit, (account) => showAccount(services, account, voices));
      return { accounts: entries, scopes: [...scopes], next_cursor: last === null ? null : encodeCursor("a", last.id) };
    },

    createKey({ request, body }) {
      const operator = operatorOf(request, store);
      const account = requireAccount(services, operator, body.account);
      const name = keyName(body.name);
      const workspace = requireWorkspace(store, account, body.workspace);
      const by = auditorOf(operator, now());
      const days = body.expires_in_days ?? null;
      const expiresAt = days === null ? null : by.now + days * dayMilliseconds;
      const made = createKey(store, account, { name, workspace, expiresAt, scopes: body.scopes ?? defaultScopes }, by);
      return { key: showKey(made.key, workspace, by.now), secret: made.secret };
    },

    setRetention({ request, id, body }) {
      const operator = operatorOf(request, store);
      const account = requireAccount(services, operator, id);
      const changes = { audioDays: body.audio_days, completedDays: body.completed_days };
      return showRetention(services, changeAccount(store, account, auditorOf(operator, now()), changes));
    },

    revokeKey({ request, id }) {
      const revoked = revoke(store, id, auditorOf(operatorOf(request, store), now()));
      const workspace = revoked.workspaceId === null ? null : getWorkspace(store, revoked.workspaceId);
      return showKey(revoked, workspace, now());
    },
  };
}

/** @throws {ConsoleError} when a key's name is not valid */
function keyName(text: string): string {
  try {
    return checkedKeyName(text);
  } catch (error) {
    if (!(error instanceof AccountsError)) throw error;
    throw new ConsoleError("validation_failed", "Give the key a name that tells where it is used.", { field: "name" });
  }
}

/**
 * Revokes a key.
 * @throws {ConsoleError} 404 for an unknown key
 */
function revoke(store: Store, id: string, by: Auditor): ApiKey {
  try {
    return revokeKey(store, id, by);
  } catch (error) {
    if (error instanceof AccountsError) throw new ConsoleError("not_found", "There is no such key.");
    throw error;
  }
}

/** Returns an account with the used part of its limits, its workspaces and its keys. */
function showAccount(services: ConsoleServices, account: StoredAccount, voices: Voices): Account {
  const { store, now } = services;
  const all = listWorkspaces(store, account).map(named);
  const workspaces = new Map(all.map((workspace) => [workspace.id, workspace]));
  const keys = listKeys(store, account);
  return {
    id: account.id,
    name: account.name,
    standing: account.standing,
    subscribed_until: optionalTimestamp(account.subscribedUntil),
    priority: account.priority,
    created_at: timestamp(account.createdAt),
    ...usageOf(services, account),
    retention: showRetention(services, account),
    workspaces: all.slice(0, MAX_WORKSPACES),
    voices: account.voices ? voices.list(account.id).length : null,
    replacements: countReplacements(store, account.id),
    webhooks: listWebhooks(store, account.id).length,
    keys: keys
      .toSorted((a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null) || (a.id < b.id ? 1 : -1))
      .slice(0, MAX_KEYS)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((key) => showKey(key, workspaces.get(key.workspaceId ?? "") ?? null, now())),
    hidden_keys: Math.max(0, keys.length - MAX_KEYS),
  };
}

function showRetention({ settings }: ConsoleServices, account: StoredAccount): Retention {
  const { audio_days, completed_days } = settings().retention;
  return {
    own: { audio_days: account.audioDays, completed_days: account.completedDays },
    server: { audio_days, completed_days },
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
function showKey(key: ApiKey, workspace: Named | null, now: number): Key {
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
