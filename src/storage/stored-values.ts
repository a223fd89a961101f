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

/** The states of an account, which decide what it may do. */
export const standings = ["active", "guest", "restricted"] as const;

/** Permissions that a key can have. */
export const scopes = ["transcriptions:read", "transcriptions:write", "transcriptions:delete"] as const;

/** Returns the part of an SQL condition that a value is one of these. */
export function oneOf(names: readonly string[]): string {
  return `IN (${names.map((name) => `'${name}'`).join(", ")})`;
}
