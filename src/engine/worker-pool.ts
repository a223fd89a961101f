import type { ResolvedOptions } from "./engine-options.ts";
import type { Start } from "./protocol.ts";
import type { Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";
import { EngineWorker, type WorkerEvents } from "./worker.ts";
import type { UnexpectedExit } from "./worker-exit.ts";
import type { WorkerState, WorkerStatus } from "./worker-state.ts";

/** The combined status of all workers. */
export interface PoolStatus {
  /** The best state of all workers, in the order of `nearestToWorking`. */
  readonly state: WorkerState;
  /** The problem, when every worker in that state has one. */
  readonly trouble: string | null;
  readonly restarts: number;
  readonly workers: readonly WorkerStatus[];
}

const nearestToWorking: readonly WorkerState[] = ["ready", "waking", "asleep", "starting", "failing", "closed"];

/**
 * The workers: one for each `Start` that `prepare` returns. `prepare` is called again whenever one of them starts. A
 * crash of one worker does not harm the others. The first worker runs all operations without the recognizer, so that
 * the CPU's threads belong to one process.
 */
export class WorkerPool {
  readonly #options: ResolvedOptions;
  readonly #events: Omit<WorkerEvents, "prepare">;
  /** In the order of `prepare`, each with its GPU's label; empty: no GPU; null: not known yet. */
  #members: { readonly worker: EngineWorker; gpu: string | null }[] = [];
  /** The latest call of `prepare`; the calls run one after the other. */
  #preparing: Promise<unknown> = Promise.resolve();
  #restartsOfDismissed = 0;

  constructor(options: ResolvedOptions, events: Omit<WorkerEvents, "prepare">) {
    this.#options = options;
    this.#events = events;
    this.#add(null, null);
  }

  get workers(): readonly EngineWorker[] {
    return this.#members.map(({ worker }) => worker);
  }

  status(): PoolStatus {
    const workers = this.workers.map((worker) => worker.status());
    const state = nearestToWorking.find((each) => workers.some((status) => status.state === each)) ?? "closed";
    const troubles = workers.filter((status) => status.state === state).map(({ trouble }) => trouble);
    const trouble = troubles.includes(null) ? null : (troubles[0] ?? null);
    const restarts = workers.reduce((sum, status) => sum + status.restarts, this.#restartsOfDismissed);
    return { state, trouble, restarts, workers };
  }

  /** See `Engine.partsAtOnce`. */
  get partsAtOnce(): number {
    const [first] = this.#members;
    return first === undefined || first.gpu !== "" ? 1 : first.worker.laneCount;
  }

  /** Returns the worker with the most free lanes that can start the operation; null when it has to wait. */
  workerFor(task: Task): EngineWorker | null {
    const working = this.workers.filter((worker) => worker.acceptsWork);
    const possible = modelOf(task.operation) === null ? working.slice(0, 1) : working;
    let best: EngineWorker | null = null;
    for (const worker of possible) {
      if (worker.accepts(task) && worker.freeLanes > (best?.freeLanes ?? 0)) best = worker;
    }
    return best;
  }

  /** @param planned what the worker loads at its first start; null: `prepare` is called */
  #add(gpu: string | null, planned: Start | null): void {
    let first = planned;
    const worker = new EngineWorker(this.#options, {
      ...this.#events,
      prepare: async (exit, signal) => {
        const start = first ?? (await this.#prepare(worker, exit, signal));
        first = null;
        return start;
      },
    });
    this.#members.push({ worker, gpu });
    worker.start();
  }

  async #prepare(worker: EngineWorker, exit: UnexpectedExit | null, signal: AbortSignal): Promise<Start | null> {
    const starts = this.#preparing
      .catch(() => {})
      .then(() => {
        signal.throwIfAborted();
        return this.#options.prepare(exit, signal);
      });
    this.#preparing = starts;
    const prepared = await starts;
    signal.throwIfAborted();
    return this.#assign(worker, prepared);
  }

  /** Assigns a worker to each start. @returns the start of the calling worker; null when none is left for it */
  #assign(caller: EngineWorker, starts: readonly Start[]): Start | null {
    const self = this.#members.find(({ worker }) => worker === caller);
    if (self === undefined) return null;
    const others = this.#members.filter((member) => member !== self);
    const free = starts.filter((start) => !others.some(({ gpu }) => gpu === gpuOf(start)));
    const own = free.find((start) => gpuOf(start) === self.gpu) ?? free[0];
    if (own === undefined) this.#dismiss(caller);
    else self.gpu = gpuOf(own);
    for (const start of free) if (start !== own) this.#add(gpuOf(start), start);
    const planned = starts.map(gpuOf);
    const isPlanned = (gpu: string | null) => gpu === null || planned.includes(gpu);
    for (const { worker, gpu } of others) if (!isPlanned(gpu)) worker.renew();
    const placeOf = (gpu: string | null) => (isPlanned(gpu) ? planned.indexOf(gpu ?? "") : planned.length);
    this.#members.sort((a, b) => placeOf(a.gpu) - placeOf(b.gpu));
    return own ?? null;
  }

  /** Removes a worker that calls `prepare` and gets no start; it is not running anything. */
  #dismiss(worker: EngineWorker): void {
    this.#members = this.#members.filter((member) => member.worker !== worker);
    this.#restartsOfDismissed += worker.status().restarts;
    worker.close();
  }
}

function gpuOf({ gpu }: Start): string {
  return gpu?.label ?? "";
}
