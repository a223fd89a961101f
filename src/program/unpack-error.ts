/** The parts can't be unpacked or used where they are to lie; the message says why and which setting helps. */
export class UnpackError extends Error {
  override readonly name = "UnpackError";
}
