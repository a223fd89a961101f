import type { WindowState } from "../../usage/index.ts";
import { ApiError } from "./errors.ts";

/** State of one limit as shown to the client. */
export interface RateLimit extends WindowState {
  /** Name of the limit in the headers. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Returns the whole seconds after which a retry succeeds, at least 1. */
function retryAfterSeconds(milliseconds: number): number {
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

/** Maximum number of subjects, about 20 MB. Only addresses can be so many; keys are far fewer. */
const MAX_SUBJECTS = 50_000;

/**
 * Counts events per subject over a sliding window, in memory. The count is exact, so that the reported time of the next
 * free place is true. Memory per subject: one number for each event in its window. Subjects without events for a window
 * are dropped. When there are too many subjects, the one entered first is dropped. A client with that many addresses
 * gains nothing from a new window for one of them.
 */
export class SlidingWindow {
  readonly #windowMilliseconds: number;
  readonly #maxSubjects: number;
  readonly #events = new Map<string, number[]>();
  #nextCleanupAt = 0;

  constructor(windowMilliseconds: number, maxSubjects = MAX_SUBJECTS) {
    this.#windowMilliseconds = windowMilliseconds;
    this.#maxSubjects = maxSubjects;
  }

  state(subject: string, limit: number, now: number): WindowState {
    const events = this.#live(subject, now);
    if (events.length < limit) return { remaining: limit - events.length, retryMilliseconds: 0 };
    const leaving = events[events.length - limit] ?? now;
    return { remaining: 0, retryMilliseconds: leaving + this.#windowMilliseconds - now };
  }

  /** Counts an event if the limit allows it. */
  spend(subject: string, limit: number, now: number): WindowState & { readonly allowed: boolean } {
    this.#cleanUp(now);
    const before = this.state(subject, limit, now);
    if (before.remaining === 0) return { ...before, allowed: false };
    const events = this.#live(subject, now);
    events.push(now);
    if (!this.#events.has(subject) && this.#events.size >= this.#maxSubjects) {
      const [oldest = ""] = this.#events.keys();
      this.#events.delete(oldest);
    }
    this.#events.set(subject, events);
    return { remaining: before.remaining - 1, retryMilliseconds: 0, allowed: true };
  }

  #live(subject: string, now: number): number[] {
    const since = now - this.#windowMilliseconds;
    const events = this.#events.get(subject);
    if (events === undefined) return [];
    let expired = 0;
    while (expired < events.length && (events[expired] ?? 0) <= since) expired += 1;
    if (expired > 0) events.splice(0, expired);
    return events;
  }

  #cleanUp(now: number): void {
    if (now < this.#nextCleanupAt) return;
    this.#nextCleanupAt = now + this.#windowMilliseconds;
    for (const subject of this.#events.keys()) if (this.#live(subject, now).length === 0) this.#events.delete(subject);
  }
}
