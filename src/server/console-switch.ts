import type { Console, WorkerStanding } from "../console/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Beside } from "../http/index.ts";

/** The console of a server, which is there while the settings say so; a reload may change them. */
export class ConsoleSwitch {
  readonly #isEnabled: () => boolean;
  readonly #make: () => Console;
  #console: Console | null = null;
  /** An earlier one that has not finished its work in the background yet; the next would begin the same work. */
  #closing: Promise<void> | null = null;
  #isClosed = false;

  /** @param make makes one that goes on with what an earlier one has left */
  constructor(isEnabled: () => boolean, make: () => Console) {
    this.#isEnabled = isEnabled;
    this.#make = make;
  }

  /** Opens or closes it, as the settings say now. */
  follow(): void {
    if (this.#isClosed || !this.#isEnabled()) this.#shut();
    else if (this.#closing === null) this.#console ??= this.#make();
  }

  /** Answers the console's paths; without a console they are like any other path that is not there. */
  readonly beside: Beside = (path) => {
    const console = this.#console;
    return console?.has(path) === true ? (request) => console.handle(request) : null;
  };

  recordingEnded(recordingId: string): void {
    this.#console?.recordingEnded(recordingId);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#shut();
    await this.#closing;
  }

  #shut(): void {
    if (this.#console === null) return;
    this.#closing = this.#console.close().finally(() => {
      this.#closing = null;
      this.follow();
    });
    this.#console = null;
  }
}

const states: Readonly<Record<ReturnType<Engine["status"]>["state"], WorkerStanding["state"]>> = {
  ready: "ready",
  asleep: "asleep",
  starting: "starting",
  waking: "starting",
  failing: "down",
  closed: "down",
};

/** How the workers stand, as the console tells it. */
export function workerStanding(engine: Pick<Engine, "status">): WorkerStanding {
  const { state, workers } = engine.status();
  return {
    state: states[state],
    processIds: workers.flatMap(({ pid }) => pid ?? []),
    gpus: workers.flatMap(({ gpu, gpuMemory }) => (gpu === null || gpuMemory === null ? [] : { ...gpu, ...gpuMemory })),
  };
}
