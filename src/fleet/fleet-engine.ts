import { type AttemptRecord, type Engine, EngineOperationError } from "../engine/index.ts";
import {
  isLiveOperation,
  isSpanOperation,
  type OperationName,
  type Params,
  type Result,
  type SpanOperation,
} from "../operations/index.ts";
import { count } from "../text/index.ts";
import { type CoordinatorStatus, encode, PRESENCE_MILLISECONDS, subjects } from "./messages.ts";
import type { PendingOperation } from "./pending-operation.ts";
import { RemoteWorkers, type RemoteWorkersOptions } from "./remote-workers.ts";
import type { Machine } from "./roster.ts";

/** The engine of this machine, as the fleet uses it. */
export type LocalEngine = Pick<Engine, "run" | "partsAtOnce" | "lanes">;

export interface FleetEngineOptions extends RemoteWorkersOptions {
  readonly local: LocalEngine;
  /** Whether this machine's own engine also runs operations on spans. */
  readonly workHere: boolean;
  /** Name of this machine. */
  readonly machine: string;
  /** Returns the SHA-256 of a speech model by its path; null if it is not known yet. */
  readonly sha256Of: (modelPath: string) => string | null;
}

/**
 * Distributes the operations on spans of recordings to the workers of a fleet, and runs the other operations on this
 * machine. Operations start in the order of their requests, those of live sessions first. Few are published at a time, so that the recording queue
 * keeps deciding the order between accounts. The broker's queue is disposable: when the connection is lost, published
 * operations return to this queue. A result counts only while its operation is awaited.
 */
export class FleetEngine {
  readonly #options: FleetEngineOptions;
  readonly #workers: RemoteWorkers;
  /** Operations that neither a worker nor this machine has, in the order in which they start. */
  readonly #waiting: PendingOperation[] = [];
  readonly #timer: NodeJS.Timeout;
  #runningHere = 0;
  #isClosed = false;
  /** The problem that was found by the last check, and whether it is logged. */
  #problem: { readonly text: string; readonly isLogged: boolean } | null = null;

  constructor(options: FleetEngineOptions) {
    this.#options = options;
    this.#workers = new RemoteWorkers(options, {
      onReturned: (operations) => {
        this.#waiting.unshift(...operations);
        this.#dispatch();
      },
      onChange: () => this.#dispatch(),
    });
    options.broker.subscribe(subjects.allStatus, () => encode(this.#status()));
    this.#timer = setInterval(() => this.#logProblem(), PRESENCE_MILLISECONDS);
  }

  /** Creates the stream. @throws {BrokerError} if the broker cannot be used */
  start(): Promise<void> {
    return this.#workers.open();
  }

  /** Number of parts of one recording that are worth requesting at the same time. */
  get partsAtOnce(): number {
    const here = this.#options.workHere ? this.#options.local.partsAtOnce : 0;
    return Math.max(1, here + this.#workers.window);
  }

  machines(): readonly Machine[] {
    return this.#workers.roster.machines();
  }

  /** Operations that wait, that the broker or a worker has, and that run on this machine. */
  load(): { readonly waiting: number; readonly published: number; readonly here: number } {
    return { waiting: this.#waiting.length, published: this.#workers.published, here: this.#runningHere };
  }

  /** Counters since the start, for metrics and `fleet status`. */
  get counts(): CoordinatorStatus["counts"] {
    return this.#workers.counts;
  }

  /** Returns why no machine processes parts of recordings, in plain words; null if one does. */
  problem(): string | null {
    const { workHere, broker } = this.#options;
    if (workHere) return null;
    if (!broker.connected) return "the fleet's broker is away, and fleet.work_here = false; see transcribe doctor";
    if (this.#workers.roster.lanes(null) > 0) return this.#missingModel();
    const machines = this.machines();
    if (machines.length === 0)
      return "no worker of the fleet is present, and fleet.work_here = false; start one on its machine: transcribe worker";
    const reasons = machines.map(({ machine, problem }) => `${machine}: ${problem ?? "its engine is starting"}`);
    const shown = reasons.slice(0, MAX_SHOWN_MACHINES).join("; ");
    return `no worker of the fleet can process parts, and fleet.work_here = false; ${shown}`;
  }

  /** Returns that parts wait for a model that no worker has; null if none do. */
  #missingModel(): string | null {
    const parts = this.#waiting.filter(({ model }) => model !== null && this.#workers.roster.lanes(model) === 0).length;
    if (parts === 0) return null;
    return `${count(parts, "part waits", "parts wait")} for a speech model that no usable worker of the fleet has; transcribe fleet status names it`;
  }

  #status(): CoordinatorStatus {
    const { version, build, models, workHere } = this.#options;
    return {
      version,
      build,
      models: [...models()],
      workHere,
      paused: this.#workers.roster.paused(),
      load: this.load(),
      counts: this.counts,
    };
  }

  /** Runs an operation; see Engine.run. */
  run<N extends OperationName>(
    operation: N,
    params: Params<N>,
    signal: AbortSignal,
    record: AttemptRecord | null = null,
  ): Promise<Result<N>> {
    const { local, workHere } = this.#options;
    const isLive = isLiveOperation(operation);
    // Live operations have lanes of their own on this machine.
    if (!isSpanOperation(operation) || (isLive && workHere)) return local.run(operation, params, signal, record);
    signal.throwIfAborted();
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise<Result<N>>((resolve, reject) => {
      const abort = () => {
        this.#withdraw(pending);
        reject(signal.reason);
        this.#dispatch();
      };
      const { model } = params as { readonly model?: string };
      const sha256 = model === undefined ? null : this.#options.sha256Of(model);
      const pending: PendingOperation = {
        operation,
        params: params as Params<SpanOperation>,
        record,
        model: sha256,
        signal,
        settle: (outcome) => {
          signal.removeEventListener("abort", abort);
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.result as Result<N>);
        },
        isLocal: model !== undefined && sha256 === null,
        pool: "",
        bytes: 0,
        lost: 0,
        unreported: 0,
        machine: null,
        fetchedBy: null,
        delivery: 0,
      };
      signal.addEventListener("abort", abort, { once: true });
      const firstOther = isLive ? this.#waiting.findIndex((other) => !isLiveOperation(other.operation)) : -1;
      this.#waiting.splice(firstOther < 0 ? this.#waiting.length : firstOther, 0, pending);
      this.#dispatch();
    });
  }

  /** Rejects all operations that wait or are published. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const published = this.#workers.close();
    for (const { settle } of [...published, ...this.#waiting.splice(0)]) settle({ error: closedError() });
  }

  /** Starts the waiting operations for which there is a place, in their order. */
  #dispatch(): void {
    for (let at = 0; at < this.#waiting.length; ) {
      const pending = this.#waiting[at] as PendingOperation;
      const start = this.#placeFor(pending);
      if (start === null) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      start();
    }
  }

  /** Returns a function that starts the operation now; null if it has to wait. */
  #placeFor(pending: PendingOperation): (() => void) | null {
    const { local, workHere } = this.#options;
    const { isLocal, model } = pending;
    const mayRunHere = workHere || isLocal;
    if (mayRunHere && this.#runningHere < Math.max(1, local.lanes)) return () => void this.#runHere(pending);
    const pool = isLocal ? null : this.#workers.poolFor(model);
    return pool === null ? null : () => void this.#workers.publish(pending, pool);
  }

  async #runHere({ operation, params, signal, record, settle }: PendingOperation): Promise<void> {
    const { local, machine } = this.#options;
    this.#runningHere++;
    try {
      const result = await local.run(operation, params, signal, record);
      record?.onCompletedBy?.(machine);
      settle({ result });
    } catch (error) {
      settle({ error });
    } finally {
      this.#runningHere--;
      this.#dispatch();
    }
  }

  #withdraw(pending: PendingOperation): void {
    const at = this.#waiting.indexOf(pending);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#workers.withdraw(pending);
  }

  /** Logs a problem that two checks found, because workers report only some seconds after the start. */
  #logProblem(): void {
    const { log } = this.#options;
    const text = this.problem();
    const before = this.#problem;
    const isLogged = text !== null && before?.text === text;
    if (isLogged && !before.isLogged) log.warn({ event: "fleet.no_usable_worker", reason: text });
    if (text === null && before?.isLogged === true) log.info({ event: "fleet.usable_worker" });
    this.#problem = text === null ? null : { text, isLogged };
  }
}

/** Number of machines whose problems a text lists. */
const MAX_SHOWN_MACHINES = 3;

const closedError = () => new EngineOperationError("the engine is closed");
