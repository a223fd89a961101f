import type { Recordings } from "../transcriptions/index.ts";
import { ApiError } from "./errors.ts";

/** Places of an account: a recording that is queued or processing has one, and so has an upload on its way in. */
export class UploadPlaces {
  readonly #recordings: Recordings;
  readonly #uploading = new Map<string, number>();

  constructor(recordings: Recordings) {
    this.#recordings = recordings;
  }

  /**
   * @returns a function that gives the place back; a recording that was entered counts by itself then
   * @throws 409 when there is none left
   */
  take(accountId: string, limit: number): () => void {
    const uploading = this.#uploading.get(accountId) ?? 0;
    if (uploading + this.#recordings.countOpen(accountId) >= limit) {
      throw new ApiError(
        "concurrency_limit",
        `${limit} recordings of this account are queued or processing; send this one when one of them has ended.`,
      );
    }
    this.#uploading.set(accountId, uploading + 1);
    return () => {
      const left = (this.#uploading.get(accountId) ?? 1) - 1;
      if (left === 0) this.#uploading.delete(accountId);
      else this.#uploading.set(accountId, left);
    };
  }
}
