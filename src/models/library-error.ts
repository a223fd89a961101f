/** A model can't be obtained, installed or removed; the message has the reason and the next step. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
}
