import type { Logger } from "../telemetry/index.ts";
import { poolOf } from "./machine-names.ts";

/** Lines that one machine may cause within this time. An honest worker causes a few in an hour. */
const MAX_LINES = 20;
/** Lines that all workers of a pool may cause within this time. 50 of them may come and go. */
const MAX_POOL_LINES = 100;
const PERIOD_MILLISECONDS = 60_000;
/** Machines and pools whose lines are counted. A hostile worker can have the broker answer under other names. */
const MAX_PERIODS = 2000;

/**
 * The coordinator's log of events that its workers cause. A worker decides how often they happen, so the lines about
 * each machine, or about all workers of a pool together, are limited: a hostile one must not fill the disk.
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
    const pool = poolOf(machine);
    const group = pool === "" ? machine : pool;
    const limit = pool === "" ? MAX_LINES : MAX_POOL_LINES;
    const before = this.#periods.get(group);
    const isNew = before === undefined || Math.abs(now - before.since) >= PERIOD_MILLISECONDS;
    if (before === undefined && this.#periods.size >= MAX_PERIODS) this.#removeEnded(now);
    if (before === undefined && this.#periods.size >= MAX_PERIODS) return;
    const period = isNew ? { since: now, lines: 0 } : before;
    this.#periods.set(group, period);
    period.lines++;
    if (period.lines <= limit) this.#log[level]({ ...fields, machine });
    else if (period.lines === limit + 1) this.#log.warn({ event: "fleet.log_limited", machine: group });
  }

  #removeEnded(now: number): void {
    for (const [group, { since }] of this.#periods) {
      if (Math.abs(now - since) >= PERIOD_MILLISECONDS) this.#periods.delete(group);
    }
  }
}
