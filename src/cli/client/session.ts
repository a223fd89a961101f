import type { Command } from "commander";
import type { ApiClient } from "./api-client.ts";
import { realClock } from "./clock.ts";
import { connect } from "./connection.ts";
import { interruptible } from "./interruptible.ts";
import { Persistence } from "./persistence.ts";

/** Somebody sits and waits for the answer of a short command: a server in trouble is given up soon. */
const shortTroubleSeconds = 30;

export interface Session {
  readonly client: ApiClient;
  readonly persistence: Persistence;
  readonly signal: AbortSignal;
}

/**
 * Runs a command of the client: with a connection, with patience, and until a signal says otherwise.
 * @param troubleSeconds how long the server may be in trouble
 */
export function inSession(
  command: Command,
  work: (session: Session) => Promise<void>,
  troubleSeconds = shortTroubleSeconds,
): Promise<void> {
  return interruptible(async (signal) => {
    const client = await connect(command);
    await work({ client, persistence: new Persistence({ clock: realClock, signal, troubleSeconds }), signal });
  });
}
