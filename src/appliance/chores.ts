import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../wording/index.ts";

/** What a server does again and again beside its work. One that fails is logged, and tried again at its next time. */
export class Chores {
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param name in the log, where it fails: a full disk or one that became read-only must not end the server */
  every(milliseconds: number, name: string, chore: () => void): void {
    this.#timers.push(setInterval(() => this.run(name, chore), milliseconds));
  }

  run(name: string, chore: () => void): void {
    try {
      chore();
    } catch (error) {
      const trouble = messageOf(error);
      this.#log.error({ event: "server.chore_failed", chore: name, trouble });
    }
  }

  stop(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }
}
