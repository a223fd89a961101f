import { type DataPaths, machineTrouble } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { announceServer, type RunningServer } from "./running-server.ts";

/** What a server says of itself in its data directory, said again until it could be written. */
export class Announcement {
  readonly #directory: DataPaths;
  readonly #log: Logger;
  /** What could not be written; null when all was. */
  #unsaid: RunningServer | null = null;

  constructor(directory: DataPaths, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  /** On a full disk commands on this machine don't know the server, or its new certificate, till it is said again. */
  say(server: RunningServer): void {
    try {
      announceServer(this.#directory, server);
      this.#unsaid = null;
    } catch (error) {
      if (machineTrouble(error) === null) throw error;
      if (this.#unsaid === null) this.#log.error({ event: "server.not_announced", trouble: messageOf(error) });
      this.#unsaid = server;
    }
  }

  /** Says what could not be said before. */
  sayAgain(): void {
    if (this.#unsaid !== null) this.say(this.#unsaid);
  }
}
