import type { Console, WorkerStatus } from "../console/index.ts";
import type { Engine } from "../engine/index.ts";
import type { ExtraPaths } from "../http/index.ts";

/** The console of a server. It exists while the settings enable it, which a reload may change. */
export class ConsoleSwitch {
  readonly #isEnabled: () => boolean;
  readonly #make: () => Console;
  #console: Console | null = null;
  /** A previous console whose background work has not finished yet; a new one would start the same work. */
  #closing: Promise<void> | null = null;
  #isClosed = false;

  /** @param make creates a console, which resumes the work of the previous one */
  constructor(isEnabled: () => boolean, make: () => Console) {
    this.#isEnabled = isEnabled;
    this.#make = make;
  }

  /** Opens or closes the console, as the current settings demand. */
  follow(): void {
    if (this.#isClosed || !this.#isEnabled()) this.#shut();
    else if (this.#closing === null) this.#console ??= this.#make();
  }

  /** Handles the console's paths; without a console they do not exist. */
  readonly paths: ExtraPaths = (path) => {
    const current = this.#console;
    return current?.has(path) === true ? (request) => current.handle(request) : null;
  };

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

const states: Readonly<Record<ReturnType<Engine["status"]>["state"], WorkerStatus["state"]>> = {
  ready: "ready",
  asleep: "asleep",
  starting: "starting",
  waking: "starting",
  failing: "down",
  closed: "down",
};

/** Returns the status of the workers for the console. */
export function workerStatus(engine: Pick<Engine, "status">): WorkerStatus {
  const { state, workers, waiting } = engine.status();
  return {
    state: states[state],
    processIds: workers.flatMap(({ pid }) => pid ?? []),
    lanes: workers.reduce((sum, { role, lanes }) => sum + (role === "speakers" ? 0 : lanes), 0),
    waiting: waiting.speech,
    decoder: decoderOf(workers.filter(({ decoderSlots }) => decoderSlots > 1)),
    gpus: workers.flatMap(({ gpu, gpuMemory }) => (gpu === null || gpuMemory === null ? [] : { ...gpu, ...gpuMemory })),
  };
}

/** Returns all decoders with slots as one. */
function decoderOf(workers: ReturnType<Engine["status"]>["workers"]): WorkerStatus["decoder"] {
  if (workers.length === 0) return null;
  const slots = workers.reduce((sum, { decoderSlots }) => sum + decoderSlots, 0);
  const rows = workers.flatMap(({ decoder }) => decoder.rowsPerStep ?? []);
  return { slots, rowsPerStep: rows.length === 0 ? null : rows.reduce((sum, each) => sum + each) / rows.length };
}
