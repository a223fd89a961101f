import { type AccountTrouble, IntakeError, type IntakeRefusal } from "../intake/index.ts";
import { type LiveEnd, LiveError, type LiveRefusal } from "../live/index.ts";
import { count } from "../text/index.ts";
import { WyomingError } from "./wyoming-error.ts";

/** Returns the error for a session that was refused; null for an unexpected error, whose message may contain anything. */
export function refusalOf(error: unknown): WyomingError | null {
  if (error instanceof WyomingError) return error;
  if (error instanceof LiveError) return ofSession(error.refusal);
  return error instanceof IntakeError ? ofIntake(error.refusal) : null;
}

function ofSession(refusal: LiveRefusal): WyomingError | null {
  switch (refusal.kind) {
    case "off":
      return new WyomingError("unavailable", "Live transcription is switched off.");
    case "full":
      return new WyomingError("busy", `The server has ${count(refusal.sessions, "live session")}, as many as it can.`);
    case "account_full":
      return new WyomingError("busy", `The account may have ${count(refusal.sessions, "live session")} at once.`);
    case "audio_used_up":
      return usedUp();
    case "bad_option":
      return new WyomingError("bad_request", `${refusal.option}: ${refusal.reason}`);
    case "too_fast":
    case "empty_turn":
    case "unknown_session":
    case "in_use":
      return null;
  }
}

function ofIntake(refusal: IntakeRefusal): WyomingError {
  switch (refusal.kind) {
    case "closed":
      return new WyomingError("unavailable", refusal.reason);
    case "account":
      return new WyomingError("account", accountTroubles[refusal.trouble]);
    case "creates_used_up": {
      const window = refusal.window === "hour" ? "an hour" : "24 hours";
      return new WyomingError("limit", `The account may create ${refusal.limit} recordings within ${window}.`);
    }
    case "no_place":
    case "no_place_for_replay":
      return new WyomingError("busy", "The account has as many recordings and live sessions as it may have.");
    case "left_to_requests":
      return new WyomingError("limit", "The account has reached a limit.");
    case "disk_full":
    case "account_share_full":
    case "probe_timed_out":
    case "no_recording":
    case "too_long":
    case "never_fits":
    case "no_space_to_process":
      return new WyomingError("unavailable", "The server can't store the sound now.");
  }
}

const accountTroubles = {
  guest: "A guest account can't use the server.",
  restricted: "The account is restricted.",
  no_subscription: "The account has no active subscription.",
} as const satisfies Record<AccountTrouble, string>;

/** Returns the error for a session that ended before its transcript was complete. */
export function errorOfEnd(reason: Exclude<LiveEnd, "client">): WyomingError {
  switch (reason) {
    case "idle":
    case "disconnected":
      return new WyomingError("timeout", "No sound arrived for too long.");
    case "too_long":
      return new WyomingError("limit", "The sound is longer than a recording may be.");
    case "audio_used_up":
      return usedUp();
    case "access":
      return new WyomingError("account", "The account may no longer use the server.");
    case "disk_full":
      return new WyomingError("unavailable", "The server can't store the sound now.");
    case "engine":
      return notTranscribed();
    case "stopping":
      return new WyomingError("unavailable", "The server is stopping.");
  }
}

export function notTranscribed(): WyomingError {
  return new WyomingError("internal", "The sound could not be transcribed.");
}

function usedUp(): WyomingError {
  return new WyomingError("limit", "The account has used up its minutes of audio of this day.");
}
