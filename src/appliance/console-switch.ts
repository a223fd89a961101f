import type { Console, WorkerStanding } from "../console/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Beside } from "../http/index.ts";

/** The console of a server while the settings have one, which a reload may change. */
export class ConsoleSwitch {
  readonly #isEnabled: () => boolean;
  readonly #make: () => Console;
  #console: Console | null = null;
  #closing: Promise<void> = Promise.resolve();

  /** @param make what takes up where an earlier one left off */
  constructor(isEnabled: () => boolean, make: () => Console) {
    this.#isEnabled = isEnabled;
    this.#make = make;
  }

  /** Opens or closes it, as the settings say now. */
  follow(): void {
    if (this.#isEnabled()) this.#console ??= this.#make();
    else this.#shut();
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
    this.#shut();
    await this.#closing;
  }

  #shut(): void {
    if (this.#console === null) return;
    const closed = this.#console.close();
    this.#closing = this.#closing.then(() => closed);
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
