/** The parts cannot be unpacked or used in their directory; the message gives the reason and the setting that helps. */
export class UnpackError extends Error {
  override readonly name = "UnpackError";
}
