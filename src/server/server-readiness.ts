import type { Trial } from "../engine/index.ts";
import type { RecordingQueue } from "../recordings/index.ts";
import { type DiskRoom, type MachineTroubleKind, machineTroubles } from "../storage/index.ts";
import { count } from "../text/index.ts";

export interface ReadinessParts {
  readonly room: Pick<DiskRoom, "lack">;
  readonly queue: Pick<RecordingQueue, "stalled">;
  readonly trial: Pick<Trial, "known" | "trouble">;
}

/** Whether a server can take work, and what keeps it from it. */
export class ServerReadiness {
  readonly #parts: ReadinessParts;
  #isStopping = false;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** It takes no more work from now on. */
  stop(): void {
    this.#isStopping = true;
  }

  /** What keeps it from taking work, in plain words, as far as is known; null when nothing does. */
  known(): string | null {
    return this.#before(() => this.#parts.trial.known());
  }

  /** The same, with the worker tried where that was long ago. */
  trouble(): string | null | Promise<string | null> {
    return this.#before(() => this.#parts.trial.trouble());
  }

  #before<T>(ofWorker: () => T): string | T {
    if (this.#isStopping) return "the server is stopping";
    return this.#parts.room.lack(0, "intake") ?? stallOf(this.#parts.queue.stalled()) ?? ofWorker();
  }
}

/** What keeps recordings from being gone on with. One that needs more room than there is holds up nobody else. */
function stallOf(stalled: readonly MachineTroubleKind[]): string | null {
  const held = stalled.filter((kind) => kind !== "no_room");
  if (held.length === 0) return null;
  const troubles = [...new Set(held)].map((kind) => machineTroubles[kind]);
  return `${count(held.length, "recording waits", "recordings wait")}: ${troubles.join(", ")}`;
}
