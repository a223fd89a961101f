import { type Account, createWindows, parseAccountLimits, type Usage } from "../../accounts/index.ts";
import type { Settings } from "../../config/index.ts";
import type { Recordings } from "../../recordings/index.ts";
import { count } from "../../text/index.ts";
import { ApiError } from "./errors.ts";
import { type RateLimit, rateLimited } from "./rate-limits.ts";
import { contextOf } from "./request-context.ts";

export interface CreateLimitServices {
  readonly recordings: Recordings;
  readonly usage: Usage;
  readonly limits: () => Settings["limits"];
  readonly now: () => number;
}

/** The place of an upload. Releasing it again has no effect. */
export interface UploadPlace extends Disposable {
  release(): void;
}

/** The turn of a request for a place. Disposing of it releases the place, or gives up the turn. */
interface PlaceTurn extends Disposable {
  /** Whether the request has its place. */
  readonly hasPlace: boolean;
  /** Waits for the place. @throws the signal's reason after an abort */
  place(signal: AbortSignal): Promise<UploadPlace>;
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
   * @throws 429 when a quota is used up, 409 when no place is left
   */
  admit(request: Request, account: Account): UploadPlace {
    this.requireQuota(request, account);
    if (!this.#hasPlace(account)) throw this.#noPlace(account);
    return this.#take(account.id);
  }

  /**
   * Checks the rate limits, then takes a turn for a place, in the order of arrival. The upload need not wait for it: an
   * unread body would stay in memory.
   * @throws 429 when a quota is used up, 409 when too many requests of the account wait already
   */
  enqueue(request: Request, account: Account): PlaceTurn {
    this.requireQuota(request, account);
    const waiting = this.#waiting.get(account.id) ?? new Set();
    if (this.#placesOf(account) === 0 || waiting.size >= MAX_WAITING) throw this.#noPlace(account);
    const { promise, resolve, reject } = Promise.withResolvers<UploadPlace>();
    let place: UploadPlace | null = null;
    const leave = () => {
      waiting.delete(take);
      // Others may have begun another queue since this one was empty.
      if (waiting.size === 0 && this.#waiting.get(account.id) === waiting) this.#waiting.delete(account.id);
    };
    const take = () => {
      if (!this.#hasPlace(account)) return;
      leave();
      place = this.#take(account.id);
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

  /** Gives free places to waiting requests. Call it when a recording has ended. */
  serveWaiting(): void {
    for (const waiting of this.#waiting.values()) for (const take of waiting) take();
  }

  /**
   * Takes a place for a replay. Only uploads in progress count. So a client that lost an answer can repeat the request
   * while its recordings are queued, and while its account may create none.
   * @throws 409 when the account has as many uploads in progress as it may have places
   */
  admitReplay(account: Account): UploadPlace {
    const limit = Math.max(1, this.#placesOf(account));
    if (this.#uploadingOf(account.id) >= limit) {
      throw new ApiError(
        "concurrency_limit",
        `${count(limit, "upload of this account is", "uploads of this account are")} in progress; send this one again when one of them has finished.`,
      );
    }
    return this.#take(account.id);
  }

  /**
   * Checks that the account may create a recording now.
   * @throws 429 when a quota of creates is used up, with the wait until every window allows one again
   */
  requireQuota(request: Request, account: Account): void {
    const spent = this.showQuota(request, account).filter(({ remaining }) => remaining === 0);
    const [longest] = spent.sort((a, b) => b.retryMilliseconds - a.retryMilliseconds);
    if (longest === undefined) return;
    const window = longest.windowSeconds === 3600 ? "an hour" : "24 hours";
    const message = `This account may create ${longest.limit} recordings within ${window}.`;
    throw rateLimited(message, longest.retryMilliseconds);
  }

  /** Adds the account's current limits of creates to the answer's headers, and returns them. */
  showQuota(request: Request, account: Account): RateLimit[] {
    const creates = this.#quota(account);
    const context = contextOf(request);
    context.limits = [...context.limits.filter(({ name }) => !name.startsWith("creates-")), ...creates];
    return creates;
  }

  /**
   * Takes a place for a file that nobody waits for. A share of each limit is left to requests, and those that wait for a
   * place go first.
   * @returns a place, or the limit that the file waits for
   */
  admitFile(account: Account): UploadPlace | FileLimit {
    const limit = this.fileLimit(account);
    if (limit !== null) return limit;
    const isTaken = this.#taken(account) >= withoutShare(this.#placesOf(account));
    return isTaken || this.#waiting.has(account.id) ? "places" : this.#take(account.id);
  }

  /** Returns the limit, other than the places, for which a file that nobody waits for waits; null for none. */
  fileLimit(account: Account): Exclude<FileLimit, "places"> | null {
    const { usage, now } = this.#services;
    const quota = this.#quota(account);
    if (quota.some(({ limit, remaining }) => remaining <= limit - withoutShare(limit))) return "creates";
    const allowanceSeconds = 60 * this.#limitsOf(account).audio_minutes_per_day;
    return usage.hasAllowance(account.id, allowanceSeconds, now()) ? null : "audio";
  }

  #quota(account: Account): RateLimit[] {
    const { usage, now } = this.#services;
    const { creates_per_hour, creates_per_day } = this.#limitsOf(account);
    const quota = (name: string, limit: number, windowMilliseconds: number): RateLimit => {
      const state = usage.creates(account.id, { limit, windowMilliseconds }, now());
      return { name, limit, windowSeconds: windowMilliseconds / 1000, ...state };
    };
    return [
      quota("creates-hour", creates_per_hour, createWindows.hour),
      quota("creates-day", creates_per_day, createWindows.day),
    ];
  }

  #hasPlace(account: Account): boolean {
    return this.#taken(account) < this.#placesOf(account);
  }

  #taken(account: Account): number {
    return this.#uploadingOf(account.id) + this.#services.recordings.open.countOf(account.id);
  }

  #noPlace(account: Account): ApiError {
    const limit = this.#placesOf(account);
    return new ApiError(
      "concurrency_limit",
      `${count(limit, "recording of this account is", "recordings of this account are")} queued, processing or being uploaded; send this one when one of them has finished.`,
    );
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

  #take(accountId: string): UploadPlace {
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
    return { release, [Symbol.dispose]: release };
  }
}
