/** The error of a failed export, for the log, never for a client. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}

/** The error of an export that exceeded its limit of time or memory, because the transcript is too long. */
export class ExportTooLargeError extends ExportError {}
