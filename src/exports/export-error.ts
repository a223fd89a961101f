/** Why a file could not be made; for the log, never for a client. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}
