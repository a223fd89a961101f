const never = new AbortController().signal;

/**
 * The abort reason of a recording's signal that parks the recording: the server stops, or another account's recording
 * gets the slot. An operation that the worker has started may finish within the grace time, so that its result is
 * stored.
 */
export class ParkingError extends Error {
  override readonly name = "ParkingError";
  readonly graceMilliseconds: number;
  /** Aborted when the grace time ends early. */
  readonly hurry: AbortSignal;

  constructor(graceMilliseconds: number, hurry = never) {
    super("the recording is parked");
    this.graceMilliseconds = graceMilliseconds;
    this.hurry = hurry;
  }
}
