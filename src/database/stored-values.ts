// The values of columns that have a fixed set of them. Every other list of them derives from these.

/** The states of a recording that has not ended. */
export const openStates = ["queued", "processing"] as const;
/** The states of a recording that has ended. They never change again. */
export const endedStates = ["completed", "failed"] as const;
/** The states of a recording, as the API reports them. */
export const statuses = [...openStates, ...endedStates] as const;

/** The values of `progress.step` in the API. */
export const steps = ["fetch", "decode", "detect", "transcribe", "diarize", "finalize"] as const;

/** The reasons of a failed recording in the API. */
export const failureReasons = ["no_speech", "too_short", "quota_exceeded", "internal"] as const;

/**
 * The kinds of a revision. `delete` is a text without characters, `revert` takes a revision back, `redo` takes back such a
 * one, `restore` all since a revision. `process`: the recording was processed again.
 */
export const correctionActions = [
  "text",
  "delete",
  "split",
  "merge",
  "assign",
  "merge_speakers",
  "replace",
  "revert",
  "redo",
  "restore",
  "process",
  "respell",
] as const;

/** The states of an account, which decide what it may do. */
export const standings = ["active", "guest", "restricted"] as const;

/** Permissions that a key has unless others are chosen: those of version 1 of the API. */
export const defaultScopes = ["transcriptions:read", "transcriptions:write", "transcriptions:delete"] as const;
/** Permissions that a key can have. `transcriptions:edit` changes recordings and transcripts that exist. */
export const scopes = [...defaultScopes, "transcriptions:edit"] as const;

/** The states of a file in a folder that the server has not finished with, in the order in which it passes them. */
export const openFileStates = ["transcribing", "postponed", "delivering", "moving", "failing"] as const;
/** The states of a file that was taken from a folder. `done`: its results are written, and it is moved. */
export const fileStates = [...openFileStates, "done"] as const;

/** Why a file of a folder gets no results. `unusable` has a sentence of its own for each file. */
export const fileFaults = [
  ...(["unusable", "too_large", "linked", "not_a_file", "no_speech", "too_short", "quota"] as const),
  ...(["cancelled", "deleted", "not_processed", "not_exported"] as const),
] as const;

/** Why a file in a folder seems to be incomplete. */
export const doubts = ["empty", "zeros", "short_wave", "short_mp4", "cut_off", "unreadable", "first_hour"] as const;

/** Why the server takes no file of a folder, or writes no results, at the moment. */
export const hindrances = [
  ...(["places", "creates", "audio", "account", "language", "translation"] as const),
  ...(["standby", "server_full", "server_busy"] as const),
  ...([
    "closed",
    "missing",
    "unmarked",
    "moved",
    "denied",
    "unmovable",
    "read_only",
    "full",
    "faulty",
    "locked",
    "linked_folder",
    "silent",
  ] as const),
  ...(["target_missing", "target_denied", "target_full", "unexpected"] as const),
] as const;

/** Why a live session ended. See LiveEnd in live/contract.ts. */
export const liveEnds = [
  ...(["client", "disconnected", "idle", "too_long", "audio_used_up"] as const),
  ...(["access", "disk_full", "engine", "stopping"] as const),
] as const;

/** The events of recordings of which webhooks are told. */
export const recordingEvents = [
  "recording.completed",
  "recording.failed",
  "recording.corrected",
  "recording.deleted",
] as const;
/** The events that a webhook receives. `ping`: somebody has sent a test. */
export const webhookEvents = [...recordingEvents, "ping"] as const;

/** Why a webhook is paused. `gone`: its receiver has answered 410. `failing`: an event failed for three days. */
export const pauseReasons = ["command", "gone", "failing"] as const;

/** The states of a delivery of an event. `failed`: a test that failed, which is not repeated. */
export const deliveryStates = ["pending", "delivered", "failed"] as const;

/** Why an attempt at a delivery failed. `refused`: the receiver has answered with another status than 2xx. */
export const deliveryFaults = [
  "refused",
  "redirected",
  "timed_out",
  "unreachable",
  "insecure",
  "unresolved",
  "blocked",
] as const;

/** The roles of people who sign in to the console, the most powerful first. */
export const roles = ["operator", "member", "reader"] as const;

/** Returns the part of an SQL condition that a value is one of these. */
export function oneOf(names: readonly string[]): string {
  return `IN (${names.map((name) => `'${name}'`).join(", ")})`;
}
