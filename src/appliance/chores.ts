import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../wording/index.ts";

/** What a server does again and again beside its work. One that fails is logged, and tried again at its next time. */
export class Chores {
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];
  #isStopped = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param name in the log, where it fails: a full disk or one that became read-only must not end the server */
  every(milliseconds: number, name: string, chore: () => void | Promise<void>): void {
    this.#timers.push(setInterval(() => this.run(name, chore), milliseconds));
  }

  run(name: string, chore: () => void | Promise<void>): void {
    const failed = (error: unknown) => {
      const trouble = messageOf(error);
      this.#log.error({ event: "server.chore_failed", chore: name, trouble });
    };
    try {
      // One that is still at it when the server stops meets a closed database.
      chore()?.catch((error: unknown) => this.#isStopped || failed(error));
    } catch (error) {
      failed(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }
}
