/** Why a file could not be made; for the log, never for a client. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}

/** It took more time or memory than a file may: the transcript is too long for it. */
export class ExportTooLargeError extends ExportError {}
