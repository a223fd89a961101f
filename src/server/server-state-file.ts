import { type DataPaths, machineTrouble } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { type RunningServer, writeServerState } from "./running-server.ts";

/** The server state file in the data directory. A write that failed is repeated until it succeeds. */
export class ServerStateFile {
  readonly #directory: DataPaths;
  readonly #log: Logger;
  /** The state that could not be written; null if the file is current. */
  #unsaid: RunningServer | null = null;

  constructor(directory: DataPaths, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  /**
   * Writes the state file. If the disk is full, commands on this machine do not find the server, or its new
   * certificate, until a retry succeeds.
   */
  write(server: RunningServer): void {
    try {
      writeServerState(this.#directory, server);
      this.#unsaid = null;
    } catch (error) {
      if (machineTrouble(error) === null) throw error;
      if (this.#unsaid === null) this.#log.error({ event: "server.not_announced", trouble: messageOf(error) });
      this.#unsaid = server;
    }
  }

  /** Retries the last write if it failed. */
  retry(): void {
    if (this.#unsaid !== null) this.write(this.#unsaid);
  }
}
