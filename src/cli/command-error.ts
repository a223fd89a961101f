/** A command that can't do what it was asked for; the message says why and what to do next. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
