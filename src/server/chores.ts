import { trimAuditLog } from "../accounts/index.ts";
import { type Store, truncateLog } from "../database/index.ts";
import { applyRetention, finishRemovals, serverRetention } from "../library/index.ts";
import { removeWorkOfEnded } from "../pipeline/index.ts";
import { trimOutbox } from "../recordings/index.ts";
import { pruneUpgradeBackups } from "../storage/index.ts";
import { confirmedAuditPosition } from "../syslog/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { removeOptedOut } from "../voices/index.ts";
import { trimDeliveries } from "../webhooks/index.ts";
import type { RunningSettings } from "./running-settings.ts";

/** The periodic tasks of a server. A failure is logged, and the task runs again at its next time. */
export class Chores {
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Names of the tasks in progress. */
  readonly #inProgress = new Set<string>();
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
    if (this.#inProgress.has(name)) return;
    const failed = (error: unknown) =>
      this.#log.error({ event: "server.chore_failed", chore: name, trouble: messageOf(error) });
    try {
      const rest = chore();
      if (rest === undefined) return;
      this.#inProgress.add(name);
      // A task that is still in progress when the server stops finds the database closed.
      void rest
        .catch((error: unknown) => this.#isStopped || failed(error))
        .finally(() => this.#inProgress.delete(name));
    } catch (error) {
      failed(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }
}

/** Returns the hourly tasks that remove data which is deleted or whose retention period is over, by their names in the log. */
export function hourlyChores(
  services: Parameters<typeof applyRetention>[0] & { readonly store: Store; readonly log: Logger },
  settings: RunningSettings,
  now: () => number,
): Readonly<Record<string, () => Promise<void> | void>> {
  return {
    retention() {
      return applyRetention(services, serverRetention(settings.values.retention), now());
    },
    "upgrade backups"() {
      const { upgrade_backup_days: days } = settings.values.retention;
      pruneUpgradeBackups(services.dataDirectory.databasePath, now(), days);
    },
    "old ends of recordings"() {
      trimOutbox(services.store, now());
    },
    async "old events of webhooks"() {
      const lost = await trimDeliveries(services.store, now());
      if (lost > 0) services.log.warn({ event: "webhook.events_dropped", events: lost });
    },
    async "old entries of the audit log"() {
      const { retention_days: days, syslog } = settings.values.audit;
      if (days === 0) return;
      await trimAuditLog(services.store, now(), days, syslog === "" ? null : confirmedAuditPosition(services.store));
    },
    async "rows of ended recordings"() {
      await finishRemovals(services);
      await removeWorkOfEnded(services.recordings);
    },
    "voices of accounts that opted out"() {
      return removeOptedOut(services.store);
    },
    // Deletions empty the log themselves, unless another connection reads it, such as a backup.
    async "deleted data in the write-ahead log"() {
      if (!(await truncateLog(services.store))) throw new Error("another program reads the database all the time");
    },
  };
}
