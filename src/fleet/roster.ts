import type { MachineLog } from "./machine-log.ts";
import { poolOf } from "./machine-names.ts";
import { MessageError, type Presence } from "./messages.ts";

/**
 * Number of checks without a message, one in each interval of the messages, after which a machine counts as gone. Checks
 * are counted, because a clock that is set or a coordinator that was stopped must not make all machines gone.
 */
const GONE_CHECKS = 4;
/** Difference of clocks that is reported; certificates and logs need clocks that agree. */
export const MAX_CLOCK_DIFFERENCE_MILLISECONDS = 60_000;

/**
 * Number of faults within this time after which a machine gets no operations for as long. A fault is an operation that
 * it did not finish in time or could not run, or an invalid result.
 */
const MAX_FAULTS = 3;
const FAULT_MILLISECONDS = 10 * 60_000;

/** Workers of one pool that count at the same time. A pool's certificate allows any number of names. */
const MAX_POOL_WORKERS = 500;
/**
 * Number of faults of a pool, at least and for each of its workers, after which the whole pool gets no operations for a
 * while. Otherwise a hostile worker would take another name after each fault.
 */
const MIN_POOL_FAULTS = 15;
const POOL_FAULTS_PER_WORKER = 0.75;
/** Maximum number of paused machines that are listed. */
const MAX_LISTED = 1000;

/** A machine of the fleet as the coordinator sees it. */
export interface Machine extends Presence {
  /** Pool of the machine; empty if it has a certificate of its own. */
  readonly pool: string;
  /** Milliseconds since its last message. */
  readonly silentMilliseconds: number;
  /** Why it gets no operations; null if it gets some. */
  readonly problem: string | null;
}

/** The recent faults of a machine or a pool, and the end of its pause. */
interface Faults {
  readonly at: readonly number[];
  readonly pausedUntil: number;
}

interface Seen {
  readonly presence: Presence;
  readonly pool: string;
  readonly at: number;
  /** Problem that was logged; null if there is none. */
  readonly reported: string | null;
  /** The greatest instance so far. */
  readonly latest: string;
  /** Checks since the last message. */
  checks: number;
}

/** The workers that are present. Times are in milliseconds. */
export class Roster {
  readonly #build: string;
  readonly #version: string;
  readonly #now: () => number;
  readonly #log: MachineLog;
  readonly #seen = new Map<string, Seen>();
  /** Times of the last reports of machines about operations. */
  readonly #reports = new Map<string, number>();
  readonly #faults = new Map<string, Faults>();
  readonly #poolFaults = new Map<string, Faults>();
  /** Lanes by pool and model, until something changes: they are read for each waiting operation. */
  readonly #lanes = new Map<string, number>();

  /** @param now returns the time since 1970 */
  constructor(own: { readonly build: string; readonly version: string }, now: () => number, log: MachineLog) {
    this.#build = own.build;
    this.#version = own.version;
    this.#now = now;
    this.#log = log;
  }

  /** Returns whether a machine reports for the first time after another start. */
  isRestarted({ machine, instance }: Presence): boolean {
    const before = this.#seen.get(machine);
    return before !== undefined && instance > before.latest;
  }

  /** Returns whether a machine is present. */
  has(machine: string): boolean {
    return this.#seen.has(machine);
  }

  /** Returns whether a worker of a pool is present. */
  hasPool(pool: string): boolean {
    return this.#seen.values().some((seen) => seen.pool === pool);
  }

  /** Notes that a machine is present. @throws {MessageError} if its pool has too many workers */
  note(presence: Presence): void {
    const { machine } = presence;
    const before = this.#seen.get(machine);
    const at = this.#now();
    this.#lanes.clear();
    if (presence.leaves) {
      if (before !== undefined) this.#log.write("info", machine, { event: "fleet.worker_left" });
      this.#forget(machine);
      return;
    }
    const pool = poolOf(machine);
    if (before === undefined && pool !== "" && this.#countIn(pool) >= MAX_POOL_WORKERS) {
      throw new MessageError(`the pool ${pool} has ${MAX_POOL_WORKERS} workers already`);
    }
    const problem = this.#problemOf(presence, at);
    if (before === undefined) this.#log.write("info", machine, { event: "fleet.worker_joined", lanes: presence.lanes });
    if (problem !== null && problem !== before?.reported) {
      this.#log.write("warn", machine, { event: "fleet.worker_unusable", reason: problem });
    }
    // Two machines with the same name by mistake would look like restarts all the time.
    const latest = before !== undefined && before.latest > presence.instance ? before.latest : presence.instance;
    this.#seen.set(machine, { presence, pool, at, reported: problem, latest, checks: 0 });
  }

  /** Removes the machines that have been silent for too long. Called once in each `PRESENCE_MILLISECONDS`. */
  removeGone(): void {
    const now = this.#now();
    // A pause may have ended.
    this.#lanes.clear();
    for (const [machine, seen] of this.#seen) {
      seen.checks++;
      if (seen.checks < GONE_CHECKS) continue;
      this.#forget(machine);
      this.#log.write("error", machine, { event: "fleet.worker_gone" });
    }
    for (const [machine, { at, pausedUntil }] of this.#faults) {
      if (pausedUntil <= now && at.every((each) => now - each >= FAULT_MILLISECONDS)) this.#faults.delete(machine);
    }
  }

  #forget(machine: string): void {
    this.#seen.delete(machine);
    this.#reports.delete(machine);
  }

  #countIn(pool: string): number {
    let number = 0;
    for (const seen of this.#seen.values()) if (seen.pool === pool) number++;
    return number;
  }

  /** Counts a fault of a machine. After several, the machine gets no operations for a while. */
  blame(machine: string): void {
    const pool = poolOf(machine);
    this.#lanes.clear();
    if (this.#countFault(this.#faults, machine, MAX_FAULTS)) {
      this.#log.write("error", machine, { event: "fleet.worker_paused", reason: this.pauseOf(machine) });
    }
    const limit = Math.max(MIN_POOL_FAULTS, Math.ceil(POOL_FAULTS_PER_WORKER * this.#countIn(pool)));
    if (pool !== "" && this.#countFault(this.#poolFaults, pool, limit)) {
      this.#log.write("error", machine, { event: "fleet.pool_paused", reason: this.#poolPauseOf(pool) });
    }
  }

  /** @returns whether a pause begins */
  #countFault(faults: Map<string, Faults>, name: string, limit: number): boolean {
    const now = this.#now();
    const { at = [], pausedUntil = 0 } = faults.get(name) ?? {};
    const recent = [...at.filter((each) => now - each < FAULT_MILLISECONDS), now];
    const pauses = recent.length >= limit;
    faults.set(name, { at: pauses ? [] : recent, pausedUntil: pauses ? now + FAULT_MILLISECONDS : pausedUntil });
    return pauses;
  }

  /** Returns why a machine gets no operations for a while; null if it gets some. */
  pauseOf(machine: string): string | null {
    const time = this.#pauseEnd(this.#faults.get(machine));
    if (time === null) return this.#poolPauseOf(poolOf(machine));
    return `it failed at ${MAX_FAULTS} parts, or held them for too long, and gets none until ${time} UTC; see its log`;
  }

  #poolPauseOf(pool: string): string | null {
    const time = this.#pauseEnd(this.#poolFaults.get(pool));
    if (time === null) return null;
    return `workers of the pool ${pool} failed at many parts, and all of them get none until ${time} UTC; see their logs, and revoke the pool if its certificate was stolen`;
  }

  #pauseEnd(faults: Faults | undefined): string | null {
    const until = faults?.pausedUntil ?? 0;
    return until <= this.#now() ? null : new Date(until).toISOString().slice(11, 19);
  }

  /** Returns the machines that are present and get no operations for a while. */
  paused(): { readonly machine: string; readonly reason: string }[] {
    const paused = [...this.#seen.keys()].flatMap((machine) => {
      const reason = this.pauseOf(machine);
      return reason === null ? [] : [{ machine, reason }];
    });
    return paused.slice(0, MAX_LISTED);
  }

  /** Notes that a machine reports about an operation. */
  noteReport(machine: string): void {
    if (this.#seen.has(machine)) this.#reports.set(machine, this.#now());
  }

  /**
   * Returns the machines that may have fetched an operation without a report: they are present and usable, and have reported
   * nothing since then. A machine that waits for operations looks the same.
   */
  suspects(pool: string, model: string | null, since: number): readonly string[] {
    return this.#usable(model)
      .filter((each) => each.pool === pool)
      .map(({ machine }) => machine)
      .filter((machine) => (this.#reports.get(machine) ?? 0) < since);
  }

  machines(): readonly Machine[] {
    return [...this.#seen.values()]
      .map(({ presence, pool, at, reported }) => {
        const problem = reported ?? this.pauseOf(presence.machine);
        return { ...presence, pool, silentMilliseconds: this.#now() - at, problem };
      })
      .toSorted((a, b) => (a.machine < b.machine ? -1 : 1));
  }

  /**
   * Returns the number of lanes that can run operations with a model.
   * @param model null: any model
   * @param pool only workers of this pool; empty: only those with certificates of their own; null: all workers
   */
  lanes(model: string | null, pool: string | null = null): number {
    const key = `${pool ?? "*"} ${model}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lanes = this.#usable(model)
      .filter((machine) => pool === null || machine.pool === pool)
      .reduce((sum, machine) => sum + machine.lanes, 0);
    this.#lanes.set(key, lanes);
    return lanes;
  }

  #usable(model: string | null): readonly Machine[] {
    return this.machines().filter(
      ({ problem, models }) => problem === null && (model === null || models.includes(model)),
    );
  }

  #problemOf({ build, version, clock, trouble }: Presence, at: number): string | null {
    if (build !== this.#build) {
      return version === this.#version
        ? `it runs another build of version ${version} (${build}) than the coordinator (${this.#build}); install the coordinator's program on it`
        : `it runs version ${version}, the coordinator ${this.#version}; install the coordinator's version on it`;
    }
    const difference = Math.abs(clock - at);
    if (difference > MAX_CLOCK_DIFFERENCE_MILLISECONDS) {
      return `its clock differs by ${Math.round(difference / 1000)} s; synchronize the clocks of both machines (NTP)`;
    }
    return trouble;
  }
}
