import { type Console, isConsolePath, toConsoleAnswer, type WorkerStatus } from "../console/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Surface } from "../http/index.ts";

/** The console of a server. It exists while the settings enable it, which a reload may change. */
export class ConsoleSwitch implements Surface {
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

  readonly owns = isConsolePath;
  readonly toAnswer = toConsoleAnswer;

  get routes(): readonly string[] {
    return this.#console?.routes ?? [];
  }

  isOn(): boolean {
    return this.#console !== null;
  }

  handle(request: Request): Promise<Response> {
    if (this.#console === null) throw new Error("the console is off");
    return this.#console.handle(request);
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
