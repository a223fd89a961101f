import type { Recordings } from "../transcriptions/index.ts";
import { count } from "../wording/index.ts";
import { ApiError } from "./errors.ts";

/** Places of an account: a recording that is queued or processing has one, and so has an upload on its way in. */
export class UploadPlaces {
  readonly #recordings: Recordings;
  readonly #uploading = new Map<string, number>();

  constructor(recordings: Recordings) {
    this.#recordings = recordings;
  }

  /**
   * @returns a place, to be given back in the same moment in which a recording is entered, which counts by itself from then
   *   on: counted twice, five uploads at once would be one too many
   * @throws 409 when there is none left
   */
  take(accountId: string, limit: number): UploadPlace {
    const uploading = this.#uploading.get(accountId) ?? 0;
    if (uploading + this.#recordings.open.countOf(accountId) >= limit) {
      throw new ApiError(
        "concurrency_limit",
        `${count(limit, "recording of this account is", "recordings of this account are")} queued or processing; send this one when one of them has ended.`,
      );
    }
    this.#uploading.set(accountId, uploading + 1);
    const giveBack = () => {
      const left = (this.#uploading.get(accountId) ?? 1) - 1;
      if (left === 0) this.#uploading.delete(accountId);
      else this.#uploading.set(accountId, left);
    };
    return placeOf(giveBack);
  }
}

/** What an upload holds of its account. Given back once, however often it is done. */
export interface UploadPlace extends Disposable {
  giveBack(): void;
}

/** The place of an upload that needs none. */
export const noPlace: UploadPlace = placeOf(() => {});

function placeOf(free: () => void): UploadPlace {
  let isHeld = true;
  const giveBack = () => {
    if (isHeld) free();
    isHeld = false;
  };
  return { giveBack, [Symbol.dispose]: giveBack };
}
