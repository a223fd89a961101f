import { Elysia } from "elysia";
import {
  type Account,
  authenticate,
  getAccount,
  keyInForce,
  type LastUse,
  parseAccountLimits,
  type Scope,
} from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { Store } from "../storage/index.ts";
import { addressGroup } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { rateLimited } from "./rate-limits.ts";
import { type Caller, callerOf, contextOf, type RequestContext } from "./request-context.ts";
import { SlidingWindow } from "./sliding-window.ts";

/** Where the public API begins. */
export const basePath = "/api/public/v1";

export interface AccessOptions {
  readonly store: Store;
  readonly lastUse: LastUse;
  readonly limits: () => Settings["limits"];
  readonly now: () => number;
}

const minute = 60_000;
const challenge = { "WWW-Authenticate": "Bearer" };
// RFC 6750, 2.1: the scheme is compared without regard to case, the token is of b64token's characters.
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Lets nobody under the base path whom the contract's section 4 does not: key, standing, request rate, in this order and
 * before routing, parsing and validation. Scopes and recordings are the routes' to check.
 */
export function access(options: AccessOptions) {
  const failures = new SlidingWindow(minute);
  const requests = new SlidingWindow(minute);

  const authenticated = (header: string | null, context: RequestContext): Caller => {
    const secret = header === null ? undefined : bearer.exec(header)?.[1];
    const key = secret === undefined ? null : authenticate(options.store, secret, options.now());
    const account = key === null ? null : getAccount(options.store, key.accountId);
    if (key !== null && account !== null) return { key, account };
    const limit = options.limits().failed_authentications_per_minute;
    const { allowed, retryMilliseconds } = failures.spend(addressGroup(context.client.address), limit, options.now());
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

  return new Elysia({ name: "access" }).onRequest((incoming) => {
    const { request } = incoming;
    // The very text that the router goes by, which Elysia's type leaves out: read in another way, a path might pass here
    // and lead there.
    const path = "path" in incoming && typeof incoming.path === "string" ? incoming.path : basePath;
    if (path !== basePath && !path.startsWith(`${basePath}/`)) return;
    // A pre-flight carries no key and is answered 405 by the router.
    if (request.method === "OPTIONS") return;
    const context = contextOf(request);
    const caller = authenticated(request.headers.get("authorization"), context);
    context.caller = caller;
    options.lastUse.note(caller.key.id, options.now());
    checkStanding(caller.account, options.now(), context.origin);
    checkRate(caller, context);
  });
}

/**
 * Checks again, by its id, a key that was in force when its request began.
 * @throws 401 when it was revoked or has expired since, 403 when its account may no longer use the API
 */
export function requireAccess(store: Store, keyId: string, now: number, origin: string): void {
  const key = keyInForce(store, keyId, now);
  const account = key === null ? null : getAccount(store, key.accountId);
  if (account === null) throw invalidKey();
  checkStanding(account, now, origin);
}

/** 401 for a key that is none of ours, or no longer. */
function invalidKey(): ApiError {
  return new ApiError("invalid_api_key", "This API key is not valid.", { headers: challenge });
}

/** @throws 403 for an account that may not use the API; its keys are kept and work again when it may */
export function checkStanding(account: Account, now: number, origin: string): void {
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

/** @throws 403 when the request's key may not do this */
export function requireScope(request: Request, scope: Scope): void {
  if (callerOf(request).key.scopes.includes(scope)) return;
  throw new ApiError("insufficient_scope", `This key lacks the scope ${scope}.`, { required: scope });
}
