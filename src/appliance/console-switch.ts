import type { Console, WorkerStanding } from "../console/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Beside } from "../http/index.ts";

/** The console of a server while the settings have one, which a reload may change. */
export class ConsoleSwitch {
  readonly #isEnabled: () => boolean;
  readonly #make: () => Console;
  #console: Console | null = null;
  /** An earlier one, which still ends what it does aside; the next one would take that up. */
  #closing: Promise<void> | null = null;
  #isClosed = false;

  /** @param make what takes up where an earlier one left off */
  constructor(isEnabled: () => boolean, make: () => Console) {
    this.#isEnabled = isEnabled;
    this.#make = make;
  }

  /** Opens or closes it, as the settings say now. */
  follow(): void {
    if (this.#isClosed || !this.#isEnabled()) this.#shut();
    else if (this.#closing === null) this.#console ??= this.#make();
  }

  /** A path of the console's is, without one, like any that nothing is at. */
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
