/** A model can't be had, taken in or removed; the message says why and what to do next. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
}
