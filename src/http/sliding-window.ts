import type { WindowState } from "../accounts/index.ts";

/** Most subjects, some 20 MB. Keys are far fewer; only addresses may be more. */
const MOST_SUBJECTS = 50_000;

/**
 * Counts events by subject over a window that slides, in memory: exact, so that what it says of the next free place is true.
 * A subject costs a number for each event it may have. Subjects that have been quiet for a window are forgotten, and the
 * oldest one is when there are too many: who has so many addresses gains nothing by another window of one.
 */
export class SlidingWindow {
  readonly #windowMilliseconds: number;
  readonly #mostSubjects: number;
  readonly #events = new Map<string, number[]>();
  #nextCleaning = 0;

  constructor(windowMilliseconds: number, mostSubjects = MOST_SUBJECTS) {
    this.#windowMilliseconds = windowMilliseconds;
    this.#mostSubjects = mostSubjects;
  }

  state(subject: string, limit: number, now: number): WindowState {
    const events = this.#live(subject, now);
    if (events.length < limit) return { remaining: limit - events.length, retryMilliseconds: 0 };
    const leaving = events[events.length - limit] ?? now;
    return { remaining: 0, retryMilliseconds: leaving + this.#windowMilliseconds - now };
  }

  /** Enters an event if there is room for it. */
  spend(subject: string, limit: number, now: number): WindowState & { readonly allowed: boolean } {
    this.#clean(now);
    const before = this.state(subject, limit, now);
    if (before.remaining === 0) return { ...before, allowed: false };
    const events = this.#live(subject, now);
    events.push(now);
    if (!this.#events.has(subject) && this.#events.size >= this.#mostSubjects) {
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
    let gone = 0;
    while (gone < events.length && (events[gone] ?? 0) <= since) gone += 1;
    if (gone > 0) events.splice(0, gone);
    return events;
  }

  #clean(now: number): void {
    if (now < this.#nextCleaning) return;
    this.#nextCleaning = now + this.#windowMilliseconds;
    for (const subject of this.#events.keys()) if (this.#live(subject, now).length === 0) this.#events.delete(subject);
  }
}
