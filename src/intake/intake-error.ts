/** The reason why an account may not create recordings, nor use the API. */
export type AccountTrouble =
  | "guest"
  | "restricted"
  /** Its subscription has ended. */
  | "no_subscription";

/** The reason why a recording is not created. Each surface has its own words for it. */
export type IntakeRefusal =
  /** The server accepts no work now, for a reason in words for people. */
  | { readonly kind: "closed"; readonly reason: string }
  /** The account may not create recordings. */
  | { readonly kind: "account"; readonly trouble: AccountTrouble }
  /** The account has created as many recordings within a window as it may. */
  | {
      readonly kind: "creates_used_up";
      readonly window: "hour" | "day";
      readonly limit: number;
      readonly retryMilliseconds: number;
    }
  /** The account has as many recordings queued, processing or being uploaded as it may have. */
  | { readonly kind: "no_place"; readonly places: number }
  /** The same for an upload that repeats an earlier one: only uploads in progress count. */
  | { readonly kind: "no_place_for_replay"; readonly places: number }
  /** A file that nobody waits for would use what a limit leaves to requests. */
  | { readonly kind: "left_to_requests"; readonly limit: "creates" | "audio" }
  /** There is no free disk space for an upload. */
  | { readonly kind: "disk_full" }
  /** The account's unfinished uploads exceed their share of the free disk space. */
  | { readonly kind: "account_share_full" }
  /** The machine is too busy to probe the file. */
  | { readonly kind: "probe_timed_out" }
  /** The file can't be read as a recording, for a reason in words for people. */
  | { readonly kind: "no_recording"; readonly reason: string }
  | { readonly kind: "too_long"; readonly maxSeconds: number }
  /** The file and its decoded audio can never fit on the disk. */
  | { readonly kind: "never_fits" }
  /** There is no free disk space to decode the file. */
  | { readonly kind: "no_space_to_process"; readonly neededBytes: number };

/** A recording was not created for a sender. A surface converts it to its own error, see `refusal`. */
export class IntakeError extends Error {
  override readonly name = "IntakeError";

  constructor(readonly refusal: IntakeRefusal) {
    super(refusal.kind);
  }
}
