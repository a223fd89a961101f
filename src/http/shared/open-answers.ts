import { rateLimited } from "./rate-limits.ts";
import type { Connection } from "./request-context.ts";
import { UPLOAD_PACE } from "./upload/index.ts";

interface Ending {
  /** Returns whether the answer is still needed. False ends it, even while it is being prepared. */
  readonly isWanted: () => boolean;
  /** Called once, when the answer is finished for any reason. */
  readonly onEnd: () => void;
}

interface Entry extends Ending {
  readonly owner: string;
  readonly connection: Connection;
  /** Time at which the connection is cut; null while the answer is being prepared. */
  deadline: number | null;
}

/** One open answer of an owner. */
interface OpenAnswer {
  /** Starts the deadline: the answer is being sent from now on and has the given size. */
  send(bytes: number): void;
  /** Closes the entry, because no answer will be sent. */
  close(): void;
}

/** Maximum number of open exports, and likewise of open pages of segments, per account. */
export const MAX_OPEN_ANSWERS = 16;
/** Returns the milliseconds that an answer of a size may take. The contract's minimum pace also applies to answers. */
const allowedMilliseconds = (bytes: number) => (UPLOAD_PACE.graceSeconds + bytes / UPLOAD_PACE.bytesPerSecond) * 1000;
/** Interval of the checks of open answers. Bun reports the end of an answer only when asked. */
const CHECK_MILLISECONDS = 250;

/** Large answers that are being prepared or sent. Their number is bounded per owner, and each has a deadline. */
export class OpenAnswers {
  readonly #max: number;
  readonly #name: string;
  readonly #now: () => number;
  readonly #entries = new Set<Entry>();
  #checkTimer: Timer | null = null;

  /**
   * @param max maximum number of open answers per owner
   * @param name name of the answers in messages, e.g. `exports`
   * @param now milliseconds since the epoch
   */
  constructor(max: number, name: string, now: () => number) {
    this.#max = max;
    this.#name = name;
    this.#now = now;
  }

  /** Registers an answer of an owner. @throws {ApiError} 429 when the owner has too many open */
  open(owner: string, connection: Connection, ending: Partial<Ending> = {}): OpenAnswer {
    if (this.#of(owner).length >= this.#max) this.check();
    const others = this.#of(owner);
    if (others.length >= this.#max) {
      const now = this.#now();
      const ends = others.map(({ deadline }) => deadline ?? now + allowedMilliseconds(0));
      throw rateLimited(
        `${this.#max} ${this.#name} are being prepared or sent; read their answers before asking for more.`,
        Math.min(...ends) - now,
      );
    }
    const { isWanted = () => true, onEnd = () => {} } = ending;
    const entry: Entry = { owner, connection, isWanted, onEnd, deadline: null };
    this.#entries.add(entry);
    this.#checkTimer ??= setInterval(() => this.check(), CHECK_MILLISECONDS).unref();
    return {
      send: (bytes) => {
        entry.deadline = this.#now() + allowedMilliseconds(bytes);
      },
      close: () => this.#close(entry),
    };
  }

  /** Closes the entries of finished answers, and ends answers that are overdue or no longer needed. */
  check(): void {
    const now = this.#now();
    for (const entry of this.#entries) {
      const { connection, deadline, isWanted } = entry;
      const isOver = (deadline !== null && now >= deadline) || !isWanted();
      // An answer in preparation is not cut, so that the client receives the error.
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
    if (this.#entries.size > 0 || this.#checkTimer === null) return;
    clearInterval(this.#checkTimer);
    this.#checkTimer = null;
  }
}
