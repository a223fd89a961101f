import { retryWait } from "../addresses/index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after the first failed attempts; the last one is that after all others. */
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR] as const;
/** Longest time that a receiver can ask for with `Retry-After`. */
const MAX_RETRY_AFTER = HOUR;
/** Longest time between two attempts at a receiver that has failed several times, while any delivery is due. */
const MAX_PROBE_WAIT = 10 * MINUTE;

/** Time from the first attempt at a delivery after which its webhook is paused. */
export const GIVE_UP_MILLISECONDS = 72 * HOUR;
/** Consecutive failures after which a receiver gets one attempt at a time, with growing waits between them. */
export const FAILURES_OF_OUTAGE = 4;

/**
 * Returns the milliseconds until the next attempt.
 * @param attempts number of failed attempts, at least 1
 * @param retryAfter milliseconds that the receiver asks for; null for none
 * @param random from 0 to 1
 */
export function waitAfter(attempts: number, retryAfter: number | null, random: number): number {
  const own = retryWait(WAITS, attempts, random);
  return Math.round(Math.max(own, Math.min(retryAfter ?? 0, MAX_RETRY_AFTER)));
}

/** Returns the milliseconds until a receiver gets its next attempt, after consecutive failures. */
export function probeWait(failures: number, retryAfter: number | null, random: number): number {
  if (failures < FAILURES_OF_OUTAGE) return Math.min(retryAfter ?? 0, MAX_RETRY_AFTER);
  const wait = Math.min(waitAfter(failures - FAILURES_OF_OUTAGE + 1, null, random), MAX_PROBE_WAIT);
  return Math.max(wait, Math.min(retryAfter ?? 0, MAX_RETRY_AFTER));
}

/** Parses a `Retry-After` header, which has seconds or a date, to milliseconds from now; null if it has none. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}
