import type { MachineLog } from "./machine-log.ts";
import type { Presence } from "./messages.ts";

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

/** A machine of the fleet as the coordinator sees it. */
export interface Machine extends Presence {
  /** Milliseconds since its last message. */
  readonly silentMilliseconds: number;
  /** Why it gets no operations; null if it gets some. */
  readonly problem: string | null;
}

interface Seen {
  readonly presence: Presence;
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
  /** Times of the recent faults of machines, at most `MAX_FAULTS` each, and the end of a pause. */
  readonly #faults = new Map<string, { readonly at: readonly number[]; readonly pausedUntil: number }>();

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

  /** Notes that a machine is present. */
  note(presence: Presence): void {
    const { machine } = presence;
    const before = this.#seen.get(machine);
    const at = this.#now();
    if (presence.leaves) {
      if (before !== undefined) this.#log.write("info", machine, { event: "fleet.worker_left" });
      this.#seen.delete(machine);
      return;
    }
    const problem = this.#problemOf(presence, at);
    if (before === undefined) this.#log.write("info", machine, { event: "fleet.worker_joined", lanes: presence.lanes });
    if (problem !== null && problem !== before?.reported) {
      this.#log.write("warn", machine, { event: "fleet.worker_unusable", reason: problem });
    }
    // Two machines with the same name by mistake would look like restarts all the time.
    const latest = before !== undefined && before.latest > presence.instance ? before.latest : presence.instance;
    this.#seen.set(machine, { presence, at, reported: problem, latest, checks: 0 });
  }

  /** Removes the machines that have been silent for too long. Called once in each `PRESENCE_MILLISECONDS`. */
  removeGone(): void {
    for (const [machine, seen] of this.#seen) {
      seen.checks++;
      if (seen.checks < GONE_CHECKS) continue;
      this.#seen.delete(machine);
      this.#log.write("error", machine, { event: "fleet.worker_gone" });
    }
  }

  /** Counts a fault of a machine. After several, the machine gets no operations for a while. */
  blame(machine: string): void {
    const now = this.#now();
    const { at = [], pausedUntil = 0 } = this.#faults.get(machine) ?? {};
    const recent = [...at.filter((each) => now - each < FAULT_MILLISECONDS), now];
    const pauses = recent.length >= MAX_FAULTS;
    this.#faults.set(machine, {
      at: pauses ? [] : recent,
      pausedUntil: pauses ? now + FAULT_MILLISECONDS : pausedUntil,
    });
    if (pauses) this.#log.write("error", machine, { event: "fleet.worker_paused", reason: this.pauseOf(machine) });
  }

  /** Returns why a machine gets no operations for a while; null if it gets some. */
  pauseOf(machine: string): string | null {
    const until = this.#faults.get(machine)?.pausedUntil ?? 0;
    if (until <= this.#now()) return null;
    const time = new Date(until).toISOString().slice(11, 19);
    return `it failed at ${MAX_FAULTS} parts, or held them for too long, and gets none until ${time} UTC; see its log`;
  }

  /** Returns the machines that get no operations for a while. */
  paused(): { readonly machine: string; readonly reason: string }[] {
    return [...this.#faults.keys()].flatMap((machine) => {
      const reason = this.pauseOf(machine);
      return reason === null ? [] : [{ machine, reason }];
    });
  }

  /** Notes that a machine reports about an operation. */
  noteReport(machine: string): void {
    this.#reports.set(machine, this.#now());
  }

  /**
   * Returns the machines that may have fetched an operation without a report: they are present and usable, and have reported
   * nothing since then. A machine that waits for operations looks the same.
   */
  suspects(model: string | null, since: number): readonly string[] {
    return this.#usable(model)
      .map(({ machine }) => machine)
      .filter((machine) => (this.#reports.get(machine) ?? 0) < since);
  }

  machines(): readonly Machine[] {
    return [...this.#seen.values()]
      .map(({ presence, at, reported }) => {
        const problem = reported ?? this.pauseOf(presence.machine);
        return { ...presence, silentMilliseconds: this.#now() - at, problem };
      })
      .toSorted((a, b) => (a.machine < b.machine ? -1 : 1));
  }

  /** Returns the number of lanes that can run operations with a model. @param model null: any model */
  lanes(model: string | null): number {
    return this.#usable(model).reduce((sum, { lanes }) => sum + lanes, 0);
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
