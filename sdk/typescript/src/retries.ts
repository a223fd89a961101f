import { ApiError, NoAnswerError } from "./errors.ts";

/** Pauses in seconds: the first, and the longest. They double in between. */
interface Pauses {
  readonly first: number;
  readonly longest: number;
}

/** Codes of status 409 that pass with time: a place becomes free, or the first request with the same key is answered. */
const CONFLICT_PAUSES: Readonly<Record<string, Pauses>> = {
  concurrency_limit: { first: 5, longest: 30 },
  idempotency_request_in_progress: { first: 2, longest: 30 },
};
const OUTAGE_PAUSES: Pauses = { first: 1, longest: 60 };

/**
 * Returns the pause in seconds before a retry, or null if the error stays: only 429, 5xx, a lost connection, and two
 * conflicts pass with time.
 * @param attempts number of earlier attempts that failed
 */
export function pauseAfter(error: unknown, attempts: number): number | null {
  if (error instanceof NoAnswerError) return error.isTemporary ? backoff(OUTAGE_PAUSES, attempts) : null;
  if (!(error instanceof ApiError)) return null;
  const { status, code, retryAfterSeconds } = error;
  if (status === 429) return retryAfterSeconds ?? backoff(OUTAGE_PAUSES, attempts);
  const pauses = CONFLICT_PAUSES[code] ?? (status >= 500 ? OUTAGE_PAUSES : null);
  return pauses === null ? null : Math.max(retryAfterSeconds ?? 0, backoff(pauses, attempts));
}

/** Returns 50 to 100 % of the doubled pause, so that many clients don't retry at the same time. */
function backoff({ first, longest }: Pauses, attempts: number): number {
  return Math.min(longest, first * 2 ** attempts) * (0.5 + Math.random() / 2);
}

/** Waits. @throws the signal's reason when it is aborted */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
