import { ExpectedError, messageOf } from "../text/index.ts";

/** An error that prevents the start of the server; the message gives a reason that the operator can fix. */
export class StartError extends ExpectedError {
  override readonly name = "StartError";
}

/**
 * Calls a function and converts its error into a `StartError` whose message names the faulty part.
 * @throws {StartError}
 */
export function orStartError<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StartError(`${what}: ${messageOf(error)}`);
  }
}
