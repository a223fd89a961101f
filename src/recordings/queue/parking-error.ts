const never = new AbortController().signal;

/**
 * The reason that a recording's signal is aborted with to park the recording: when the server stops, or when another account's
 * recording gets its slot. An operation that the worker has begun may finish within the grace time, so that its result is stored.
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
