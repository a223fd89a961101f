import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";

/** What a server does again and again beside its work. One that fails is logged, and tried again at its next time. */
export class Chores {
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Names of those that go on. */
  readonly #begun = new Set<string>();
  #isStopped = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param name in the log, where it fails: a full disk or one that became read-only must not end the server */
  every(milliseconds: number, name: string, chore: () => void | Promise<void>): void {
    this.#timers.push(setInterval(() => this.run(name, chore), milliseconds));
  }

  /** Does it now, unless it is at it still. */
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
      // One that is still at it when the server stops meets a closed database.
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
