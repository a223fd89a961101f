import type { Account } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { Recordings } from "../recordings/index.ts";
import { createWindows, parseAccountLimits, type Usage, type WindowState } from "../usage/index.ts";
import { IntakeError } from "./intake-error.ts";

export interface CreateLimitServices {
  readonly recordings: Recordings;
  readonly usage: Usage;
  readonly limits: () => Settings["limits"];
  readonly now: () => number;
}

/** State of an account's limit of creates within a sliding window. */
export interface CreateWindow extends WindowState {
  readonly window: keyof typeof createWindows;
  readonly limit: number;
}

/** The place of a recording that is not created yet. Releasing it again has no effect. */
export interface CreatePlace extends Disposable {
  release(): void;
  /**
   * Repeats the check of the other limits: other creates may have used the remaining quota since the place was taken.
   * @throws {IntakeError}
   */
  requireLimits(): void;
}

/** The turn of a request for a place. Disposing of it releases the place, or gives up the turn. */
interface PlaceTurn extends Disposable {
  /** Whether the request has its place. */
  readonly hasPlace: boolean;
  /** Waits for the place. @throws the signal's reason after an abort */
  place(signal: AbortSignal): Promise<CreatePlace>;
}

/** A limit that a file waits for: recordings at the same time, creates within a window, or audio within a day. */
type FileLimit = "places" | "creates" | "audio";

/** Share of each limit that files leave to the requests of their account. Chosen, not measured. */
const REQUEST_SHARE = 1 / 5;

/** Returns the part of a limit that files may use: at least one, and less than all unless the limit is one. */
function withoutShare(limit: number): number {
  return limit <= 1 ? limit : limit - Math.ceil(limit * REQUEST_SHARE);
}

/** Maximum number of requests of one account that wait for a place. Each holds a connection, and its file on disk. */
const MAX_WAITING = 256;

/**
 * Limits of creates: their rate per account, and the places of an account. A queued or processing recording takes a
 * place. So does an upload in progress, of a create or of a replay.
 */
export class CreateLimits {
  readonly #services: CreateLimitServices;
  readonly #uploading = new Map<string, number>();
  /** Requests that wait for a place, in order of arrival, by account. Calling one takes a place, if one is left. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(services: CreateLimitServices) {
    this.#services = services;
  }

  /**
   * Checks the rate limits, then takes a place. A refused create uses up no quota.
   * @returns a place, to be released in the same tick in which the recording is inserted. From then on the recording
   * itself counts: if both counted, five uploads at once would be one too many.
   * @throws {IntakeError} `creates_used_up`, `no_place`
   */
  admit(account: Account): CreatePlace {
    this.#requireQuota(account);
    if (!this.#hasPlace(account)) throw this.#noPlace(account);
    return this.#takeForRequest(account);
  }

  /**
   * Checks the rate limits, then takes a turn for a place, in the order of arrival. The upload need not wait for it: an
   * unread body would stay in memory.
   * @throws {IntakeError} `creates_used_up`; `no_place` when too many requests of the account wait already
   */
  enqueue(account: Account): PlaceTurn {
    this.#requireQuota(account);
    const waiting = this.#waiting.get(account.id) ?? new Set();
    if (this.#placesOf(account) === 0 || waiting.size >= MAX_WAITING) throw this.#noPlace(account);
    const { promise, resolve, reject } = Promise.withResolvers<CreatePlace>();
    let place: CreatePlace | null = null;
    const leave = () => {
      waiting.delete(take);
      // Others may have begun another queue since this one was empty.
      if (waiting.size === 0 && this.#waiting.get(account.id) === waiting) this.#waiting.delete(account.id);
    };
    const take = () => {
      if (!this.#hasPlace(account)) return;
      leave();
      place = this.#takeForRequest(account);
      resolve(place);
    };
    this.#waiting.set(account.id, waiting.add(take));
    if (waiting.size === 1) take();
    return {
      get hasPlace() {
        return place !== null;
      },
      async place(signal) {
        signal.throwIfAborted();
        const stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop, { once: true });
        try {
          return await promise;
        } finally {
          signal.removeEventListener("abort", stop);
        }
      },
      [Symbol.dispose]() {
        leave();
        place?.release();
      },
    };
  }

  /** Takes a place for a live session that an earlier server admitted, whatever the limits are now. */
  readmit(account: Pick<Account, "id">): CreatePlace {
    return this.#take(account.id, () => {});
  }

  /** Gives free places to waiting requests. Call it when a recording has ended. */
  serveWaiting(): void {
    for (const waiting of this.#waiting.values()) for (const take of waiting) take();
  }

  /**
   * Takes a place for a replay. Only uploads in progress count. So a client that lost an answer can repeat the request
   * while its recordings are queued, and while its account may create none.
   * @throws {IntakeError} `no_place_for_replay` when the account has as many uploads in progress as it may have places
   */
  admitReplay(account: Account): CreatePlace {
    const places = Math.max(1, this.#placesOf(account));
    if (this.#uploadingOf(account.id) >= places) throw new IntakeError({ kind: "no_place_for_replay", places });
    return this.#take(account.id, () => {});
  }

  /**
   * Takes a place for a file that nobody waits for. A share of each limit is left to requests, and those that wait for a
   * place go first.
   * @returns a place, or the limit that the file waits for
   */
  admitFile(account: Account): CreatePlace | FileLimit {
    const limit = this.#fileLimit(account);
    if (limit !== null) return limit;
    const isTaken = this.#taken(account) >= withoutShare(this.#placesOf(account));
    if (isTaken || this.#waiting.has(account.id)) return "places";
    return this.#take(account.id, () => {
      const reached = this.#fileLimit(account);
      if (reached !== null) throw new IntakeError({ kind: "left_to_requests", limit: reached });
    });
  }

  /** Returns the account's current limits of creates. */
  windowsOf(account: Account): CreateWindow[] {
    const { usage, now } = this.#services;
    const { creates_per_hour, creates_per_day } = this.#limitsOf(account);
    const stateOf = (window: CreateWindow["window"], limit: number) => {
      const state = usage.creates(account.id, { limit, windowMilliseconds: createWindows[window] }, now());
      return { window, limit, ...state };
    };
    return [stateOf("hour", creates_per_hour), stateOf("day", creates_per_day)];
  }

  /** @throws {IntakeError} `creates_used_up`, with the wait until every window allows one create again */
  #requireQuota(account: Account): void {
    const spent = this.windowsOf(account).filter(({ remaining }) => remaining === 0);
    const [longest] = spent.sort((a, b) => b.retryMilliseconds - a.retryMilliseconds);
    if (longest === undefined) return;
    const { window, limit, retryMilliseconds } = longest;
    throw new IntakeError({ kind: "creates_used_up", window, limit, retryMilliseconds });
  }

  /** Returns the limit, other than the places, for which a file that nobody waits for waits; null for none. */
  #fileLimit(account: Account): Exclude<FileLimit, "places"> | null {
    const { usage, now } = this.#services;
    const isUsed = this.windowsOf(account).some(({ limit, remaining }) => remaining <= limit - withoutShare(limit));
    if (isUsed) return "creates";
    const allowanceSeconds = 60 * this.#limitsOf(account).audio_minutes_per_day;
    return usage.hasAllowance(account.id, allowanceSeconds, now()) ? null : "audio";
  }

  #hasPlace(account: Account): boolean {
    return this.#taken(account) < this.#placesOf(account);
  }

  #taken(account: Account): number {
    return this.#uploadingOf(account.id) + this.#services.recordings.open.countOf(account.id);
  }

  #noPlace(account: Account): IntakeError {
    return new IntakeError({ kind: "no_place", places: this.#placesOf(account) });
  }

  #limitsOf(account: Account): Settings["limits"] {
    return { ...this.#services.limits(), ...parseAccountLimits(account.limits) };
  }

  #placesOf(account: Account): number {
    return this.#limitsOf(account).recordings_per_account;
  }

  #uploadingOf(accountId: string): number {
    return this.#uploading.get(accountId) ?? 0;
  }

  #takeForRequest(account: Account): CreatePlace {
    return this.#take(account.id, () => this.#requireQuota(account));
  }

  #take(accountId: string, requireLimits: () => void): CreatePlace {
    this.#uploading.set(accountId, this.#uploadingOf(accountId) + 1);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      const left = this.#uploadingOf(accountId) - 1;
      if (left === 0) this.#uploading.delete(accountId);
      else this.#uploading.set(accountId, left);
      this.serveWaiting();
    };
    return { release, requireLimits, [Symbol.dispose]: release };
  }
}
