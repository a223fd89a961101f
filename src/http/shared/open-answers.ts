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
  readonly weight: number;
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

/** Maximum number of open exports per account. */
export const MAX_OPEN_EXPORTS = 16;
/** Returns the milliseconds that an answer of a size may take. The contract's minimum pace also applies to answers. */
const allowedMilliseconds = (bytes: number) => (UPLOAD_PACE.graceSeconds + bytes / UPLOAD_PACE.bytesPerSecond) * 1000;
/** Interval of the checks of open answers. Bun reports the end of an answer only when asked. */
const CHECK_MILLISECONDS = 250;

/** The limits of an OpenAnswers. An answer has a weight, such as its bytes. */
interface OpenLimits {
  /** Maximum weight of the open answers of an owner, and of all owners together. */
  readonly perOwner: number;
  readonly inAll?: number;
  /** Message of a refusal. */
  readonly refusal: string;
}

/** Large answers that are being prepared or sent. Their total weight is bounded per owner, and each has a deadline. */
export class OpenAnswers {
  readonly #limits: OpenLimits;
  readonly #now: () => number;
  readonly #entries = new Set<Entry>();
  #checkTimer: Timer | null = null;

  /** @param now milliseconds since the epoch */
  constructor(limits: OpenLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Registers an answer of an owner. @throws {ApiError} 429 when too many are open */
  open(
    owner: string,
    connection: Connection,
    { weight = 1, ...ending }: Partial<Ending> & { weight?: number } = {},
  ): OpenAnswer {
    if (this.#wait(owner, weight) > 0) this.check();
    const wait = this.#wait(owner, weight);
    if (wait > 0) throw rateLimited(this.#limits.refusal, wait);
    const { isWanted = () => true, onEnd = () => {} } = ending;
    const entry: Entry = { owner, weight, connection, isWanted, onEnd, deadline: null };
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

  /** Returns the milliseconds until there is space for another answer, at the latest; 0 if there is space now. */
  #wait(owner: string, weight: number): number {
    const { perOwner, inAll = Number.POSITIVE_INFINITY } = this.#limits;
    const all = [...this.#entries];
    const own = all.filter((entry) => entry.owner === owner);
    return Math.max(this.#waitAmong(own, weight, perOwner), this.#waitAmong(all, weight, inAll));
  }

  /** Returns the same for one maximum: as many answers must end, the first to end first, as exceed it with the new one. */
  #waitAmong(entries: readonly Entry[], newWeight: number, maximum: number): number {
    const now = this.#now();
    const ending = entries.map(({ weight, deadline }) => ({ weight, ends: deadline ?? now + allowedMilliseconds(0) }));
    let excess = entries.reduce((sum, { weight }) => sum + weight, newWeight - maximum);
    let until = 0;
    for (const { weight, ends } of ending.sort((a, b) => a.ends - b.ends)) {
      if (excess <= 0) break;
      excess -= weight;
      until = Math.max(1, ends - now);
    }
    return until;
  }

  #close(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    entry.onEnd();
    if (this.#entries.size > 0 || this.#checkTimer === null) return;
    clearInterval(this.#checkTimer);
    this.#checkTimer = null;
  }
}
