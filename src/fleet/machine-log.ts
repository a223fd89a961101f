import type { Logger } from "../telemetry/index.ts";

/** Lines that one machine may cause within this time. An honest worker causes a few in an hour. */
const MAX_LINES = 20;
const PERIOD_MILLISECONDS = 60_000;

/**
 * The coordinator's log of events that its workers cause. A worker decides how often they happen, so the lines about
 * each machine are limited: a hostile one must not fill the disk.
 */
export class MachineLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #periods = new Map<string, { readonly since: number; lines: number }>();

  /** @param now returns the time in milliseconds */
  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  write(
    level: "info" | "warn" | "error",
    machine: string,
    fields: { readonly event: string } & Record<string, unknown>,
  ): void {
    const now = this.#now();
    const before = this.#periods.get(machine);
    const isNew = before === undefined || Math.abs(now - before.since) >= PERIOD_MILLISECONDS;
    const period = isNew ? { since: now, lines: 0 } : before;
    this.#periods.set(machine, period);
    period.lines++;
    if (period.lines <= MAX_LINES) this.#log[level]({ ...fields, machine });
    else if (period.lines === MAX_LINES + 1) this.#log.warn({ event: "fleet.log_limited", machine });
  }
}
