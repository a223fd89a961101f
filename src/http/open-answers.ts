import { rateLimited } from "./rate-limits.ts";
import type { Connection } from "./request-context.ts";

interface Ending {
  /** False ends the answer, in preparation too. */
  readonly isWanted: () => boolean;
  /** Called once, when the answer has ended in any way. */
  readonly onEnd: () => void;
}

interface Entry extends Ending {
  readonly owner: string;
  readonly connection: Connection;
  /** When the answer is cut; null while it is being prepared. */
  deadline: number | null;
}

/** The place of one answer among those of its owner. */
export interface OpenAnswer {
  /** The answer has so many bytes and is sent from now on. */
  send(bytes: number): void;
  /** There is no answer. */
  close(): void;
}

/** Exports, and pages of segments, of one account that may be open. */
export const MAX_OPEN_ANSWERS = 16;
/** An answer may take a minute, and beyond that as long as its size takes at the slowest speed that is allowed. */
const FIRST_MILLISECONDS = 60_000;
const SLOWEST_BYTES_PER_SECOND = 16 * 1024;
/** How often answers are checked: Bun says whether one has ended, but only when it is asked. */
const CHECK_MILLISECONDS = 250;

/** Large answers that are being prepared or sent: bounded in number for each owner, and each in its time. */
export class OpenAnswers {
  readonly #most: number;
  readonly #what: string;
  readonly #now: () => number;
  readonly #entries = new Set<Entry>();
  #checking: Timer | null = null;

  /**
   * @param most how many each owner may have open
   * @param what their name for people, e.g. `exports`
   * @param now milliseconds since the epoch
   */
  constructor(most: number, what: string, now: () => number) {
    this.#most = most;
    this.#what = what;
    this.#now = now;
  }

  /** Opens an answer of an owner. @throws {ApiError} 429 when the owner has too many open */
  open(owner: string, connection: Connection, ending: Partial<Ending> = {}): OpenAnswer {
    if (this.#of(owner).length >= this.#most) this.check();
    const others = this.#of(owner);
    if (others.length >= this.#most) {
      const now = this.#now();
      const ends = others.map(({ deadline }) => deadline ?? now + FIRST_MILLISECONDS);
      throw rateLimited(
        `${this.#most} ${this.#what} are being prepared or sent; read their answers before asking for more.`,
        Math.min(...ends) - now,
      );
    }
    const { isWanted = () => true, onEnd = () => {} } = ending;
    const entry: Entry = { owner, connection, isWanted, onEnd, deadline: null };
    this.#entries.add(entry);
    this.#checking ??= setInterval(() => this.check(), CHECK_MILLISECONDS).unref();
    return {
      send: (bytes) => {
        entry.deadline = this.#now() + FIRST_MILLISECONDS + (bytes / SLOWEST_BYTES_PER_SECOND) * 1000;
      },
      close: () => this.#close(entry),
    };
  }

  /** Closes the answers that have ended, and ends those that take too long or are no longer wanted. */
  check(): void {
    const now = this.#now();
    for (const entry of this.#entries) {
      const { connection, deadline, isWanted } = entry;
      const isOver = (deadline !== null && now >= deadline) || !isWanted();
      // While it is prepared, the client is to read why there is none.
      if (isOver && deadline !== null) connection.cut();
      if (isOver || !connection.isOpen()) this.#close(entry);
    }
  }

  /** Closes all answers. */
  close(): void {
    for (const entry of this.#entries) this.#close(entry);
  }

  #of(owner: string): Entry[] {
    return [...this.#entries].filter((entry) => entry.owner === owner);
  }

  #close(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    entry.onEnd();
    if (this.#entries.size > 0 || this.#checking === null) return;
    clearInterval(this.#checking);
    this.#checking = null;
  }
}
