import { type DiskSpace, type MachineTroubleKind, machineTroubles } from "../disk/index.ts";
import type { HealthCheck } from "../engine/index.ts";
import type { RecordingQueue } from "../queue/index.ts";
import { count } from "../text/index.ts";

interface ReadinessParts {
  readonly diskSpace: Pick<DiskSpace, "shortage">;
  readonly queue: Pick<RecordingQueue, "stalled">;
  readonly health: Pick<HealthCheck, "known" | "trouble">;
  /** Returns why the server may not serve now; null if it may. */
  readonly leaseTrouble: () => string | null;
  /** Returns why work will be slow, or is not safe on a second machine; null otherwise. */
  readonly warning: () => string | null;
  /** Returns why no machine of the fleet processes recordings; null if one does, or the server works alone. */
  readonly fleetProblem: () => string | null;
  /** Returns why changes wait for a standby that is away; null if they do not. */
  readonly standbyProblem: () => string | null;
}

/** The readiness of a server: whether it accepts work, and if not, why. */
export class ServerReadiness {
  readonly #parts: ReadinessParts;
  #isStopping = false;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Marks the server as stopping: it accepts no more work. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Returns the known reason why it accepts no work, in plain words; null if it accepts work. */
  known(): string | null {
    return this.#before(() => this.#parts.standbyProblem() ?? this.#parts.health.known());
  }

  /**
   * Returns the same, but probes the worker if its last probe was long ago. A standby that is away does not count: a load
   * balancer would send nobody here any more, and transcripts can be read.
   */
  trouble(): string | null | Promise<string | null> {
    return this.#before(() => this.#parts.health.trouble());
  }

  /** Returns a warning for people while work is accepted; null if there is none. */
  warning(): string | null {
    return this.#parts.warning();
  }

  #before<T>(ofWorker: () => T): string | T {
    if (this.#isStopping) return "the server is stopping";
    const { diskSpace, queue, fleetProblem, leaseTrouble } = this.#parts;
    return (
      leaseTrouble() ?? diskSpace.shortage(0, "intake") ?? stallOf(queue.stalled()) ?? fleetProblem() ?? ofWorker()
    );
  }
}

/**
 * Returns the reason why recordings are stalled. A recording that needs more disk space than there is does not count,
 * because it blocks no other.
 */
function stallOf(stalled: readonly MachineTroubleKind[]): string | null {
  const held = stalled.filter((kind) => kind !== "no_room");
  if (held.length === 0) return null;
  const troubles = [...new Set(held)].map((kind) => machineTroubles[kind]);
  return `${count(held.length, "recording waits", "recordings wait")}: ${troubles.join(", ")}`;
}
