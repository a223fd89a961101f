import { type contextOf, SlidingWindow } from "../../http/index.ts";
import { ConsoleError } from "./errors.ts";

/**
 * Attempts that one device or address has in 15 minutes. They are enough for a person who has several passwords in
 * mind.
 */
const OWN_BUDGET = { limit: 10, windowMilliseconds: 15 * 60_000 };
/**
 * Attempts that all strangers together have in an hour. 25 addresses can use them up, and they are far too few to guess
 * twelve characters.
 */
const SHARED_BUDGET = { limit: 1000, windowMilliseconds: 3_600_000 };
/** Attempts at the password of one user that all strangers together have in 15 minutes. */
const USER_BUDGET = { limit: 30 };
/**
 * Maximum number of unfinished checks, counted separately for strangers and for all other clients. One check takes
 * about 64 MB and a processor for a moment.
 */
const MAX_WAITING = 4;

/** A client that attempts a password. */
export interface Attempter {
  readonly client: Pick<ReturnType<typeof contextOf>["client"], "addressGroup" | "isLocal">;
  /** The id of a device on which this person has signed in before; null for any other. */
  readonly device: string | null;
  /** The user whose password is attempted, who may not exist; null for the operator's password. */
  readonly user: string | null;
}

/**
 * Limits attempts at passwords; successful attempts count as well. Strangers share one budget, and one for each user, so
 * that many addresses guess no faster than a few. A device on which the person has signed in before has its own budget,
 * which no stranger can spend. So does this machine itself. Source: OWASP, "Slow down online guessing attacks with
 * device cookies".
 */
export class Attempts {
  readonly #perSubject = new SlidingWindow(OWN_BUDGET.windowMilliseconds);
  readonly #shared = new SlidingWindow(SHARED_BUDGET.windowMilliseconds);
  readonly #now: () => number;
  readonly #waiting = { strangers: 0, others: 0 };
  #last: Promise<unknown> = Promise.resolve();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Checks a password after all earlier checks have finished.
   * @throws {ConsoleError} 429 after too many attempts
   */
  async check({ client, device, user }: Attempter, check: () => Promise<boolean>): Promise<boolean> {
    const queue = device === null && !client.isLocal ? "strangers" : "others";
    if (this.#waiting[queue] >= MAX_WAITING) throw tooManyAttempts(1000);
    const own = device === null ? (client.isLocal ? "loopback" : client.addressGroup) : `device ${device}`;
    this.#spend(queue, own, user === null ? null : `user ${user}`);
    this.#waiting[queue] += 1;
    const mine = this.#last.then(check);
    this.#last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      this.#waiting[queue] -= 1;
    }
  }

  #spend(queue: "strangers" | "others", subject: string, user: string | null): void {
    const now = this.#now();
    // This check comes first: addresses beyond the shared budget are not counted, so they take no memory.
    const strangers = this.#shared.state("", SHARED_BUDGET.limit, now);
    if (queue === "strangers" && strangers.remaining === 0) throw tooManyAttempts(strangers.retryMilliseconds);
    const ofUser = user === null ? null : this.#perSubject.state(user, USER_BUDGET.limit, now);
    if (queue === "strangers" && ofUser?.remaining === 0) throw tooManyAttempts(ofUser.retryMilliseconds);
    const spent = this.#perSubject.spend(subject, OWN_BUDGET.limit, now);
    if (!spent.allowed) throw tooManyAttempts(spent.retryMilliseconds);
    if (queue === "others") return;
    this.#shared.spend("", SHARED_BUDGET.limit, now);
    if (user !== null) this.#perSubject.spend(user, USER_BUDGET.limit, now);
  }
}

function tooManyAttempts(retryMilliseconds: number): ConsoleError {
  const message = "Too many attempts at the password; wait, or sign in in another way.";
  return new ConsoleError("too_many_attempts", message, { retryMilliseconds });
}
