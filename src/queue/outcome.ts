import type { MachineTroubleKind } from "../disk/index.ts";

/**
 * The result of an attempt at a recording. Null: the recording has ended. Otherwise its state is unchanged and it is
 * resumed. `slot` means when a slot is free, because its link was fetched or it was suspended. Any other value means
 * later, because the machine cannot work now.
 */
export type Outcome = { readonly waitsFor: "slot" | MachineTroubleKind } | null;

const never = new AbortController().signal;

/**
 * The abort reason that suspends a recording: the server stops, or another account's recording gets the slot. An
 * operation that the worker has started may finish within the grace time, so that its result is stored.
 */
export class SuspendError extends Error {
  override readonly name = "SuspendError";
  readonly graceMilliseconds: number;
  /** Aborted when the grace time ends early. */
  readonly graceEnded: AbortSignal;

  constructor(graceMilliseconds: number, graceEnded = never) {
    super("the recording is suspended");
    this.graceMilliseconds = graceMilliseconds;
    this.graceEnded = graceEnded;
  }
}

/** The abort reason of a recording's signal when a command has ended the recording. */
export class RecordingEndedError extends Error {
  override readonly name = "RecordingEndedError";
  constructor() {
    super("the recording was ended by command");
  }
}
