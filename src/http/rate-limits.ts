import type { WindowState } from "../accounts/index.ts";
import { ApiError } from "./errors.ts";

/** State of one limit as shown to the client. */
export interface RateLimit extends WindowState {
  /** Name of the limit in the headers. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Returns the whole seconds after which a retry succeeds, at least 1. */
export function retryAfterSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/**
 * Formats the headers `RateLimit-Policy` (quota and window) and `RateLimit` (remaining quota, and for how many
 * seconds). See draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimitHeaders(limits: readonly RateLimit[]): Record<string, string> {
  if (limits.length === 0) return {};
  const policy = limits.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`);
  const state = limits.map(({ name, remaining, retryMilliseconds, windowSeconds }) => {
    const seconds = remaining > 0 ? windowSeconds : retryAfterSeconds(retryMilliseconds);
    return `"${name}";r=${remaining};t=${seconds}`;
  });
  return { "RateLimit-Policy": policy.join(", "), RateLimit: state.join(", ") };
}

/** Creates a 429 error with an exact `Retry-After`. */
export function rateLimited(message: string, retryMilliseconds: number): ApiError {
  return new ApiError("rate_limited", message, {
    headers: { "Retry-After": String(retryAfterSeconds(retryMilliseconds)) },
  });
}
