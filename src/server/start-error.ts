import { messageOf } from "../text/index.ts";

/** The server can't start; the message says why and is the operator's to mend. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** What a part refuses at the start: a message that says where, without a stack. @throws {StartError} */
export function orStartError<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StartError(`${what}: ${messageOf(error)}`);
  }
}
