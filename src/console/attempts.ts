import { addressGroup, type Client, isLoopback, SlidingWindow } from "../http/index.ts";
import { ConsoleError } from "./errors.ts";

/** Attempts of one device or address in 15 minutes: enough for a person who has several passwords in mind. */
const own = { limit: 10, windowMilliseconds: 15 * 60_000 };
/** Attempts of all strangers in an hour: more than 25 addresses can make, and far too few to find twelve characters. */
const ofStrangers = { limit: 1000, windowMilliseconds: 3_600_000 };
/** Checks that wait for their turn, of strangers and of others each. A check takes some 64 MB and a processor for a moment. */
const MOST_WAITING = 4;

/** Who attempts a password. */
export interface Attempter {
  readonly client: Pick<Client, "address" | "forwarded">;
  /** The id of a device on which the operator has signed in before; null for any other. */
  readonly device: string | null;
}

/**
 * Limits attempts at the operator's password, successful ones included. Strangers share a budget, so that many addresses
 * guess no faster than a few. A device on which the operator has signed in before (OWASP, "Slow down online guessing attacks
 * with device cookies") and this machine itself have budgets of their own, which no stranger can spend.
 */
export class Attempts {
  readonly #own = new SlidingWindow(own.windowMilliseconds);
  readonly #ofStrangers = new SlidingWindow(ofStrangers.windowMilliseconds);
  readonly #now: () => number;
  readonly #waiting = { strangers: 0, others: 0 };
  #last: Promise<unknown> = Promise.resolve();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Checks a password once earlier checks have ended.
   * @throws {ConsoleError} 429 after too many attempts
   */
  async try({ client, device }: Attempter, check: () => Promise<boolean>): Promise<boolean> {
    const isHere = isLoopback(client.address) && !client.forwarded;
    const queue = device === null && !isHere ? "strangers" : "others";
    if (this.#waiting[queue] >= MOST_WAITING) throw tooMany(1000);
    this.#spend(queue, device === null ? (isHere ? "loopback" : addressGroup(client.address)) : `device ${device}`);
    this.#waiting[queue] += 1;
    const mine = this.#last.then(check);
    this.#last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      this.#waiting[queue] -= 1;
    }
  }

  #spend(queue: "strangers" | "others", subject: string): void {
    const now = this.#now();
    // Asked first: addresses beyond the budget are not even counted, so they take no memory.
    const strangers = this.#ofStrangers.state("", ofStrangers.limit, now);
    if (queue === "strangers" && strangers.remaining === 0) throw tooMany(strangers.retryMilliseconds);
    const spent = this.#own.spend(subject, own.limit, now);
    if (!spent.allowed) throw tooMany(spent.retryMilliseconds);
    if (queue === "strangers") this.#ofStrangers.spend("", ofStrangers.limit, now);
  }
}

function tooMany(retryMilliseconds: number): ConsoleError {
  return new ConsoleError(
    "too_many_attempts",
    "Too many passwords were tried; wait, or use a link: transcribe console.",
    {
      retryMilliseconds,
    },
  );
}
