import type { IntakeRefusal } from "../intake/index.ts";
import type { FileFault } from "./folder-files.ts";
import type { Hindrance } from "./hindrances.ts";

/** Consequence of a refusal: the file waits, or fails with words for the person who put it there. */
type RefusalOutcome =
  | { readonly hindrance: Hindrance }
  /** The bytes of disk space that decoding it needs. */
  | { readonly neededBytes: number }
  | { readonly fault: Extract<FileFault, "unusable" | "too_large">; readonly detail: string };

/** Returns what the refusal of a file's recording means for the file. */
export function outcomeOf(refusal: IntakeRefusal): RefusalOutcome {
  switch (refusal.kind) {
    case "account":
      return { hindrance: "account" };
    case "left_to_requests":
    case "creates_used_up":
      return { hindrance: "creates" };
    case "no_place":
    case "no_place_for_replay":
      return { hindrance: "places" };
    case "closed":
    case "disk_full":
    case "account_share_full":
    case "probe_timed_out":
      return { hindrance: "server_busy" };
    case "no_space_to_process":
      return { neededBytes: refusal.neededBytes };
    case "no_recording":
      return { fault: "unusable", detail: refusal.reason };
    case "too_long":
      return { fault: "unusable", detail: `The recording is longer than ${refusal.maxSeconds / 3600} hours.` };
    case "never_fits":
      return { fault: "too_large", detail: "The recording needs more disk space to process than this server has." };
  }
}
