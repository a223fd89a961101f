import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";

/** The periodic tasks of a server. A failure is logged, and the task runs again at its next time. */
export class Chores {
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Names of the tasks in progress. */
  readonly #begun = new Set<string>();
  #isStopped = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs a task periodically. A failure, for example on a full or read-only disk, must not end the server.
   * @param name name of the task in the log
   */
  every(milliseconds: number, name: string, chore: () => void | Promise<void>): void {
    this.#timers.push(setInterval(() => this.run(name, chore), milliseconds));
  }

  /** Runs a task now, unless it is still in progress. */
  run(name: string, chore: () => void | Promise<void>): void {
    if (this.#begun.has(name)) return;
    const failed = (error: unknown) => {
      const trouble = messageOf(error);
      this.#log.error({ event: "server.chore_failed", chore: name, trouble });
    };
    try {
      const rest = chore();
      if (rest === undefined) return;
      this.#begun.add(name);
      // A task that is still in progress when the server stops finds the database closed.
      void rest.catch((error: unknown) => this.#isStopped || failed(error)).finally(() => this.#begun.delete(name));
    } catch (error) {
      failed(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }
}
