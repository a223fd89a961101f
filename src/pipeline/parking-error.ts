/**
 * The reason that a recording's signal is aborted with when the server stops: it is left as it is, for a later start. What the
 * worker is at may go on for so long, so that it is stored and not done again.
 */
export class ParkingError extends Error {
  override readonly name = "ParkingError";
  readonly graceMilliseconds: number;

  constructor(graceMilliseconds: number) {
    super("the server is stopping");
    this.graceMilliseconds = graceMilliseconds;
  }
}
