import { addressGroup, SlidingWindow } from "../http/index.ts";
import { ConsoleError } from "./errors.ts";

/** From one address in a quarter of an hour: enough for a person who has several passwords in mind. */
const ofAddress = { limit: 10, windowMilliseconds: 15 * 60_000 };
/** From all addresses in an hour: at that pace nobody finds twelve characters. */
const ofAll = { limit: 100, windowMilliseconds: 3_600_000 };
/** Each check takes some 64 MB, and the whole of a processor for a moment. */
const waitingAtMost = 5;

/** Limits the tries at the operator's password. One that succeeds is counted like one that fails. */
export class Attempts {
  readonly #ofAddress = new SlidingWindow(ofAddress.windowMilliseconds);
  readonly #ofAll = new SlidingWindow(ofAll.windowMilliseconds);
  readonly #now: () => number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Checks a password, once those that came before have been checked.
   * @throws {ConsoleError} 429 when too many were tried
   */
  async try(address: string, check: () => Promise<boolean>): Promise<boolean> {
    const now = this.#now();
    const own = this.#ofAddress.spend(addressGroup(address), ofAddress.limit, now);
    if (!own.allowed) throw tooMany(own.retryMilliseconds);
    const all = this.#ofAll.spend("", ofAll.limit, now);
    if (!all.allowed) throw tooMany(all.retryMilliseconds);
    if (this.#waiting >= waitingAtMost) throw tooMany(1000);
    this.#waiting += 1;
    const mine = this.#last.then(check);
    this.#last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function tooMany(retryMilliseconds: number): ConsoleError {
  return new ConsoleError(
    "too_many_attempts",
    "Too many passwords were tried; wait a while, or take a link: transcribe console.",
    { retryMilliseconds },
  );
}
