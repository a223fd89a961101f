/** The server can't start; the message says why and is the operator's to mend. */
export class StartError extends Error {
  override readonly name = "StartError";
}
