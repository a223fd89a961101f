import {
  type Account,
  activeKey,
  authenticate,
  getAccount,
  type KeyUsage,
  parseAccountLimits,
  type Scope,
} from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { Store } from "../storage/index.ts";
import { ApiError } from "./errors.ts";
import { rateLimited, SlidingWindow } from "./rate-limits.ts";
import { type Caller, callerOf, contextOf, type RequestContext } from "./request-context.ts";

export interface AccessOptions {
  readonly store: Store;
  readonly lastUse: KeyUsage;
  readonly limits: () => Settings["limits"];
  readonly now: () => number;
}

const minute = 60_000;
const challenge = { "WWW-Authenticate": "Bearer" };
// RFC 6750, 2.1: the scheme is case-insensitive, and the token has the characters of b64token.
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Returns the check of section 4 of the contract for all requests whose paths need a key. It checks the key, the account's
 * status and the request rate, in this order. Routes check scopes and recordings themselves.
 */
export function accessCheck(
  options: AccessOptions,
  needsKey: (path: string) => boolean,
): (request: Request, path: string) => void {
  const failures = new SlidingWindow(minute);
  const requests = new SlidingWindow(minute);

  const authenticated = (header: string | null, context: RequestContext): Caller => {
    const secret = header === null ? undefined : bearer.exec(header)?.[1];
    const key = secret === undefined ? null : authenticate(options.store, secret, options.now());
    const account = key === null ? null : getAccount(options.store, key.accountId);
    if (key !== null && account !== null) return { key, account };
    const limit = options.limits().failed_authentications_per_minute;
    const { allowed, retryMilliseconds } = failures.spend(context.client.addressGroup, limit, options.now());
    if (!allowed) throw rateLimited("Too many failed authentications from this address.", retryMilliseconds);
    throw header === null
      ? new ApiError("missing_api_key", "Send your API key: Authorization: Bearer KEY.", { headers: challenge })
      : invalidKey();
  };

  const checkRate = ({ key, account }: Caller, context: RequestContext) => {
    const limit = parseAccountLimits(account.limits).requests_per_minute ?? options.limits().requests_per_minute;
    const state = requests.spend(key.id, limit, options.now());
    context.limits = [{ name: "requests", limit, windowSeconds: 60, ...state }];
    if (!state.allowed) throw rateLimited(`This key may make ${limit} requests a minute.`, state.retryMilliseconds);
  };

  return (request, path) => {
    if (!needsKey(path)) return;
    // A CORS preflight request carries no key and is answered 405 by the router.
    if (request.method === "OPTIONS") return;
    const context = contextOf(request);
    const caller = authenticated(request.headers.get("authorization"), context);
    context.caller = caller;
    options.lastUse.record(caller.key.id, options.now());
    requireActive(caller.account, options.now(), context.origin);
    checkRate(caller, context);
  };
}

/**
 * Checks a key and its account again that were valid when the request began.
 * @throws 401 when the key was revoked or has expired since, 403 when its account may no longer use the API
 */
export function requireAccess(store: Store, keyId: string, now: number, origin: string): void {
  const key = activeKey(store, keyId, now);
  const account = key === null ? null : getAccount(store, key.accountId);
  if (account === null) throw invalidKey();
  requireActive(account, now, origin);
}

/** Returns the 401 error for a key that is unknown or no longer active. */
function invalidKey(): ApiError {
  return new ApiError("invalid_api_key", "This API key is not valid.", { headers: challenge });
}

/**
 * Checks that an account may use the API. If it may not, its keys stay stored and work again once it may.
 * @throws 403 when it may not
 */
export function requireActive(account: Account, now: number, origin: string): void {
  const docs = `${origin}/docs`;
  if (account.standing === "guest") {
    throw new ApiError("guest_account_not_supported", "A guest account can't use the API.", { docs });
  }
  if (account.standing === "restricted") {
    throw new ApiError("account_restricted", "This account is restricted.", { docs });
  }
  if (account.subscribedUntil !== null && account.subscribedUntil <= now) {
    throw new ApiError("subscription_required", "This account has no active subscription.", { docs });
  }
}

/** Checks that the request's key has a scope; null: any key will do. @throws 403 when it has not */
export function requireScope(request: Request, scope: Scope | null): void {
  if (scope === null || callerOf(request).key.scopes.includes(scope)) return;
  throw new ApiError("insufficient_scope", `This key lacks the scope ${scope}.`, { required: scope });
}
