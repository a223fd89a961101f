import type { Command } from "commander";
import type { ApiClient } from "./api-client.ts";
import { realClock } from "./clock.ts";
import { connect } from "./connection.ts";
import { interruptible } from "./interruptible.ts";
import { Persistence } from "./persistence.ts";

/** Maximum time that a short command retries a failing server; it is brief, because a person waits for the result. */
const shortTroubleSeconds = 30;

export interface Session {
  readonly client: ApiClient;
  readonly persistence: Persistence;
  readonly signal: AbortSignal;
}

/**
 * Runs a client command with a connection and with retries, until it finishes or a signal interrupts it.
 * @param troubleSeconds how long the server may fail or be unreachable
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
