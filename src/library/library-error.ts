import type { Status } from "../recordings/index.ts";
import type { CorrectionRefusal } from "../transcripts/index.ts";

/** The reason why a recording is not processed again. */
export type RerunRefusal =
  /** Its audio is not stored any more. */
  | "no_audio"
  /** It is being processed again already. */
  | "already_open"
  /** Its account has as many queued and processing recordings, with those that are processed again, as it may have. */
  | "no_place";

/** The reason why a recording was not read or changed. Each surface has its own words for it. */
export type Refusal =
  /** The recording does not exist, or the viewer must not learn that it does. */
  | { readonly kind: "not_found" }
  /** The recording belongs to the viewer's account, but not to the workspace of the key. */
  | { readonly kind: "other_workspace" }
  /** The viewer may see the recording, but not change it, or only operators do this. */
  | { readonly kind: "not_allowed" }
  /** An operator protects the recording from deletion. */
  | { readonly kind: "held" }
  /** The recording is queued or processing, and can't be deleted. */
  | { readonly kind: "still_open"; readonly status: Status }
  /** The recording is queued, processing or failed, and has no transcript. */
  | { readonly kind: "not_completed"; readonly status: Status }
  /** The recording was not translated. */
  | { readonly kind: "not_translated" }
  /** The correction of a transcript does not fit what the transcript is now. */
  | { readonly kind: "not_corrected"; readonly reason: CorrectionRefusal }
  /** The recording can't be processed again now. */
  | { readonly kind: "not_processed"; readonly reason: RerunRefusal }
  /** The recording has completed or failed, and can't be cancelled. */
  | { readonly kind: "has_ended"; readonly status: Status };

/** A recording was not read or changed for a viewer. A surface converts it to its own error, see `refusal`. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";

  constructor(readonly refusal: Refusal) {
    super(refusal.kind);
  }
}
