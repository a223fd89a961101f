import type { WindowState } from "../accounts/index.ts";
import { ApiError } from "./errors.ts";

/** One limit as a client sees it. */
export interface RateLimit extends WindowState {
  /** Its name in the headers. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Whole seconds after which a retry passes, never 0. */
export function retryAfterSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): quota and window; what is left, and for how long. */
export function rateLimitHeaders(limits: readonly RateLimit[]): Record<string, string> {
  if (limits.length === 0) return {};
  const policy = limits.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`);
  const state = limits.map(({ name, remaining, retryMilliseconds, windowSeconds }) => {
    const seconds = remaining > 0 ? windowSeconds : retryAfterSeconds(retryMilliseconds);
    return `"${name}";r=${remaining};t=${seconds}`;
  });
  return { "RateLimit-Policy": policy.join(", "), RateLimit: state.join(", ") };
}

/** 429 with a `Retry-After` that is true. */
export function rateLimited(message: string, retryMilliseconds: number): ApiError {
  return new ApiError("rate_limited", message, {
    headers: { "Retry-After": String(retryAfterSeconds(retryMilliseconds)) },
  });
}
