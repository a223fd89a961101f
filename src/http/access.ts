import { Elysia } from "elysia";
import { type ApiKey, authenticate } from "../accounts/index.ts";
import type { Store } from "../storage/index.ts";
import { ApiError } from "./errors.ts";
import { contextOf } from "./request-context.ts";

/** Where the public API begins. */
export const basePath = "/api/public/v1";

const challenge = { "WWW-Authenticate": "Bearer" };
// RFC 6750, 2.1: the scheme is compared without regard to case, the token is of b64token's characters.
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Lets nobody under the base path without a key that is in force: before routing, parsing and validation. */
export function access(store: Store) {
  return new Elysia({ name: "access" }).onRequest(({ request }) => {
    const { pathname } = new URL(request.url);
    if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return;
    // A pre-flight carries no key and is answered 405 by the router.
    if (request.method === "OPTIONS") return;
    contextOf(request).key = requireKey(store, request.headers.get("authorization"));
  });
}

function requireKey(store: Store, header: string | null): ApiKey {
  if (header === null) {
    throw new ApiError("missing_api_key", "Send your API key: Authorization: Bearer KEY.", { headers: challenge });
  }
  const secret = bearer.exec(header)?.[1];
  const key = secret === undefined ? null : authenticate(store, secret);
  if (key === null) throw new ApiError("invalid_api_key", "This API key is not valid.", { headers: challenge });
  return key;
}

/** The key of a request that has passed `access`. */
export function keyOf(request: Request): ApiKey {
  const { key } = contextOf(request);
  if (key === null) throw new Error("a route under the base path was reached without a key");
  return key;
}
