import type { Recordings } from "../recordings/index.ts";
import { count } from "../text/index.ts";
import { ApiError } from "./errors.ts";

/**
 * Places of an account. A queued or processing recording takes one. So does an upload in progress, of a create or of a
 * replay.
 */
export class UploadPlaces {
  readonly #recordings: Recordings;
  readonly #uploading = new Map<string, number>();

  constructor(recordings: Recordings) {
    this.#recordings = recordings;
  }

  /**
   * Takes a place for a create.
   * @returns a place, to be released in the same tick in which the recording is inserted. From then on the recording
   * itself counts: if both counted, five uploads at once would be one too many.
   * @throws 409 when there is none left
   */
  takeForCreate(accountId: string, limit: number): UploadPlace {
    if (this.#uploadingOf(accountId) + this.#recordings.open.countOf(accountId) >= limit) {
      throw new ApiError(
        "concurrency_limit",
        `${count(limit, "recording of this account is", "recordings of this account are")} queued, processing or being uploaded; send this one when one of them has ended.`,
      );
    }
    return this.#take(accountId);
  }

  /**
   * Takes a place for a replay. Only uploads in progress count. So a client that lost an answer can repeat the request
   * while its recordings are queued, and while its account may create none.
   * @throws 409 when the account has as many uploads in progress as it may have places
   */
  takeForReplay(accountId: string, limit: number): UploadPlace {
    const most = Math.max(1, limit);
    if (this.#uploadingOf(accountId) >= most) {
      throw new ApiError(
        "concurrency_limit",
        `${count(most, "upload of this account is", "uploads of this account are")} in progress; send this one again when one of them has finished.`,
      );
    }
    return this.#take(accountId);
  }

  #uploadingOf(accountId: string): number {
    return this.#uploading.get(accountId) ?? 0;
  }

  #take(accountId: string): UploadPlace {
    this.#uploading.set(accountId, this.#uploadingOf(accountId) + 1);
    let isHeld = true;
    const giveBack = () => {
      if (!isHeld) return;
      isHeld = false;
      const left = this.#uploadingOf(accountId) - 1;
      if (left === 0) this.#uploading.delete(accountId);
      else this.#uploading.set(accountId, left);
    };
    return { giveBack, [Symbol.dispose]: giveBack };
  }
}

/** The place of an upload. Releasing it again has no effect. */
export interface UploadPlace extends Disposable {
  giveBack(): void;
}
