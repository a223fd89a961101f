import { type Account, findAccount, getAccount } from "../../accounts/index.ts";
import { includes, type Networks } from "../../addresses/index.ts";
import type { Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import { requireActive } from "../../intake/index.ts";
import { type ApiKey, activeKey, authenticate, type KeyUsage, type Scope } from "../../keys/index.ts";
import { parseAccountLimits } from "../../usage/index.ts";
import { asksForSocket, offeredProtocols } from "./accept-socket.ts";
import { type ClientSecrets, isClientSecret } from "./client-secrets.ts";
import { ApiError } from "./errors.ts";
import { rateLimited, SlidingWindow } from "./rate-limits.ts";
import { type Caller, callerOf, contextOf, type RequestContext } from "./request-context.ts";

export interface AccessOptions {
  readonly store: Store;
  readonly lastUse: KeyUsage;
  readonly limits: () => Settings["limits"];
  readonly compat: () => Settings["compat"];
  /** Networks of `compat.asr_networks`. */
  readonly asrNetworks: () => Networks;
  readonly clientSecrets: Pick<ClientSecrets, "find">;
  readonly now: () => number;
}

const minute = 60_000;
const challenge = { "WWW-Authenticate": "Bearer" };
const basicChallenge = { "WWW-Authenticate": 'Basic realm="transcribe", charset="UTF-8"' };
// RFC 6750, 2.1: the scheme is case-insensitive, and the token has the characters of b64token.
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const basic = /^basic +([A-Za-z0-9+/]{1,1024}={0,2}) *$/i;

/**
 * How the requests to a surface prove who sends them. `basic`: also by a key as the password of HTTP Basic, or by their
 * network.
 */
type Proof = "bearer" | "basic";

/** Further places for the key on some paths. */
interface KeyPlaces {
  /**
   * Whether the path opens a live session: a WebSocket may send its key or a client secret as a subprotocol, since
   * browsers send no header.
   */
  readonly isLive?: boolean;
  /** Header with the bare key, which some clients send instead of `Authorization`; null for none. */
  readonly keyHeader?: string | null;
}

/**
 * Returns the check of section 4 of the contract for all requests that need a key. It checks the key, the account's
 * status and the request rate, in this order. Routes check scopes and recordings themselves. All surfaces use the same
 * check, because they share its limits.
 */
export function accessCheck(options: AccessOptions): (request: Request, proof: Proof, places?: KeyPlaces) => void {
  const { store, now, clientSecrets } = options;
  const failures = new SlidingWindow(minute);
  const requests = new SlidingWindow(minute);

  const keyOf = (secret: string, isLive: boolean, context: RequestContext): ApiKey | null => {
    if (!isClientSecret(secret)) return authenticate(store, secret, now());
    context.clientSecret = isLive ? clientSecrets.find(secret) : null;
    return context.clientSecret === null ? null : activeKey(store, context.clientSecret.keyId, now());
  };

  const authenticated = (header: string | null, proof: Proof, isLive: boolean, context: RequestContext): Caller => {
    const secret = header === null ? undefined : secretOf(header, proof);
    const key = secret === undefined ? null : keyOf(secret, isLive, context);
    const account = key === null ? null : getAccount(store, key.accountId);
    if (key !== null && account !== null) return { key, account };
    const limit = options.limits().failed_authentications_per_minute;
    const { allowed, retryMilliseconds } = failures.spend(context.client.addressGroup, limit, options.now());
    if (!allowed) throw rateLimited("Too many failed authentications from this address.", retryMilliseconds);
    throw header === null ? missingKey(proof) : invalidKey(proof);
  };

  const checkRate = (sender: string, account: Account, context: RequestContext) => {
    const limit = parseAccountLimits(account.limits).requests_per_minute ?? options.limits().requests_per_minute;
    const state = requests.spend(sender, limit, options.now());
    context.limits = [{ name: "requests", limit, windowSeconds: 60, ...state }];
    if (!state.allowed) throw rateLimited(`This key may make ${limit} requests a minute.`, state.retryMilliseconds);
  };

  return (request, proof, { isLive = false, keyHeader = null } = {}) => {
    // A CORS preflight request carries no key and is answered 405 by the router.
    if (request.method === "OPTIONS") return;
    const context = contextOf(request);
    const isSocket = isLive && asksForSocket(request);
    const bare = keyHeader === null ? null : request.headers.get(keyHeader);
    const header =
      request.headers.get("authorization") ??
      (bare === null ? null : `Bearer ${bare}`) ??
      (isSocket ? keyInProtocols(request) : null);
    if (proof === "basic" && !bearer.test(header ?? "")) refuseWebPages(request);
    const keyless = proof === "basic" && header === null ? accountWithoutKey(request, options) : null;
    if (keyless !== null) {
      context.keylessAccount = keyless;
      checkRate(keyless.id, keyless, context);
      return;
    }
    const caller = authenticated(header, proof, isSocket, context);
    context.caller = caller;
    options.lastUse.record(caller.key.id, options.now());
    requireActive(caller.account, options.now());
    checkRate(caller.key.id, caller.account, context);
  };
}

/** The subprotocols that have a key: those of our own protocol, and of OpenAI's. */
const keyProtocol = /^(?:bearer|openai-insecure-api-key)\.(?=.)/;

/** Returns the key among the subprotocols that a client offers, as a header would have it; null if there is none. */
function keyInProtocols(request: Request): string | null {
  const name = offeredProtocols(request).find((each) => keyProtocol.test(each));
  return name === undefined ? null : name.replace(keyProtocol, "Bearer ");
}

/** Returns the key in an Authorization header; undefined if there is none. */
function secretOf(header: string, proof: Proof): string | undefined {
  const token = bearer.exec(header)?.[1];
  if (token !== undefined || proof === "bearer") return token;
  const credentials = Buffer.from(basic.exec(header)?.[1] ?? "", "base64").toString();
  const colon = credentials.indexOf(":");
  return colon === -1 ? undefined : credentials.slice(colon + 1);
}

/**
 * A browser sends a stored password, or no key at all, also for the page of another site.
 * @throws 400 for a request of a web page
 */
function refuseWebPages({ headers }: Request): void {
  if (!headers.has("origin") && !headers.has("sec-fetch-site")) return;
  throw new ApiError("bad_request", "Web pages can't use this path.");
}

/**
 * Returns the account of a request without a key, if the settings have one and the request comes from their networks.
 * @throws {IntakeError} when the account may not use the API
 */
export function accountWithoutKey(
  request: Request,
  { store, compat, asrNetworks, now }: Pick<AccessOptions, "store" | "compat" | "asrNetworks" | "now">,
): Account | null {
  const { client } = contextOf(request);
  const name = compat().asr_key_account;
  if (name === "" || !client.isSender || !includes(asrNetworks(), client.address)) return null;
  const account = findAccount(store, name);
  if (account !== null) requireActive(account, now());
  return account;
}

/**
 * Checks a key and its account again that were valid when the request began.
 * @throws {ApiError} 401 when the key was revoked or has expired since
 * @throws {IntakeError} when its account may no longer use the API
 */
export function requireAccess(store: Store, keyId: string, now: number): void {
  const key = activeKey(store, keyId, now);
  const account = key === null ? null : getAccount(store, key.accountId);
  if (account === null) throw invalidKey();
  requireActive(account, now);
}

function missingKey(proof: Proof): ApiError {
  return proof === "bearer"
    ? new ApiError("missing_api_key", "Send your API key: Authorization: Bearer KEY.", { headers: challenge })
    : new ApiError("missing_api_key", "Send your API key as the password: http://user:KEY@HOST.", {
        headers: basicChallenge,
      });
}

/** Returns the 401 error for a key that is unknown or no longer active. */
export function invalidKey(proof: Proof = "bearer"): ApiError {
  const headers = proof === "bearer" ? challenge : basicChallenge;
  return new ApiError("invalid_api_key", "This API key is not valid.", { headers });
}

/** Checks that the request's key has a scope; null: any key will do. @throws 403 when it has not */
export function requireScope(request: Request, scope: Scope | null): void {
  if (scope === null || callerOf(request).key.scopes.includes(scope)) return;
  throw new ApiError("insufficient_scope", `This key lacks the scope ${scope}.`, { required: scope });
}
