import type { UnexpectedExit, WorkerOptions } from "./engine-options.ts";
import { PooledWorker, type WorkerPoolUser } from "./pooled-worker.ts";
import type { Start } from "./protocol.ts";
import type { Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";
import type { EngineState, PrepareOne, WorkerStatus } from "./worker-life.ts";

/** The combined status of all workers. */
export interface PoolStatus {
  /** The best state of all workers, in the order of `nearestToWorking`. */
  readonly state: EngineState;
  /** The problem, when every worker in that state has one. */
  readonly trouble: string | null;
  readonly restarts: number;
  readonly workers: readonly WorkerStatus[];
}

const nearestToWorking: readonly EngineState[] = ["ready", "waking", "asleep", "starting", "failing", "closed"];

/**
 * The workers: one for each `Start` that `prepare` returns. `prepare` is called again whenever one of them starts. A
 * crash of one worker does not harm the others. The first worker runs all operations without the recognizer, so that the CPU's
 * threads belong to one process.
 */
export class WorkerPool {
  readonly #options: WorkerOptions;
  readonly #user: WorkerPoolUser;
  /** In the order of `prepare`, each with its GPU's label; empty: no GPU; null: not known yet. */
  #workers: { readonly worker: PooledWorker; gpu: string | null }[] = [];
  /** The latest call of `prepare`; the calls run one after the other. */
  #planning: Promise<unknown> = Promise.resolve();
  #restartsOfDismissed = 0;

  constructor(options: WorkerOptions, user: WorkerPoolUser) {
    this.#options = options;
    this.#user = user;
    this.#add(null, null);
  }

  status(): PoolStatus {
    const workers = this.#workers.map(({ worker }) => worker.status());
    const state = nearestToWorking.find((each) => workers.some((status) => status.state === each)) ?? "closed";
    const trouble = sharedTrouble(workers.filter((status) => status.state === state));
    const restarts = workers.reduce((sum, status) => sum + status.restarts, this.#restartsOfDismissed);
    return { state, trouble, restarts, workers };
  }

  get nothingRuns(): boolean {
    return this.#workers.every(({ worker }) => worker.nothingRuns);
  }

  /** See `Engine.partsAtOnce`. */
  get partsAtOnce(): number {
    const [first] = this.#workers;
    return first === undefined || first.gpu !== "" ? 1 : first.worker.lanes;
  }

  /** Returns the worker with the most free lanes that can start the operation; null when it has to wait. */
  placeFor(task: Task): PooledWorker | null {
    const working = this.#workers.filter(({ worker }) => worker.takesWork);
    const possible = modelOf(task.operation) === null ? working.slice(0, 1) : working;
    let best: PooledWorker | null = null;
    for (const { worker } of possible) {
      if (worker.takes(task) && worker.room > (best?.room ?? 0)) best = worker;
    }
    return best;
  }

  /** Tells the worker that runs this operation to stop it. */
  cancel(task: Task): void {
    for (const { worker } of this.#workers) worker.cancel(task);
  }

  keepModels(paths: readonly string[]): void {
    for (const { worker } of this.#workers) worker.keepModels(paths);
  }

  renew(): void {
    for (const { worker } of this.#workers) worker.renew();
  }

  sleep(): void {
    for (const { worker } of this.#workers) worker.sleep();
  }

  wake(): void {
    for (const { worker } of this.#workers) worker.wake();
  }

  /** Ends all workers. @returns the operations that they were running */
  close(): Task[] {
    return this.#workers.flatMap(({ worker }) => worker.close());
  }

  /** Resolves when all processes have exited, after `close`. */
  async ended(): Promise<void> {
    await Promise.all(this.#workers.map(({ worker }) => worker.ended()));
  }

  /** @param planned what the worker loads at its first start; null: `prepare` is called */
  #add(gpu: string | null, planned: Start | null): void {
    let first = planned;
    const prepare: PrepareOne = async (death, signal) => {
      const start = first ?? (await this.#prepare(worker, death, signal));
      first = null;
      return start;
    };
    const worker = new PooledWorker({ ...this.#options, prepare }, this.#user);
    this.#workers.push({ worker, gpu });
    worker.start();
  }

  async #prepare(worker: PooledWorker, death: UnexpectedExit | null, signal: AbortSignal): Promise<Start | null> {
    const before = this.#planning;
    const asking = before
      .catch(() => {})
      .then(() => {
        signal.throwIfAborted();
        return this.#options.prepare(death, signal);
      });
    this.#planning = asking;
    const starts = await asking;
    signal.throwIfAborted();
    return this.#assign(worker, starts);
  }

  /** Assigns a worker to each start. @returns the start of the calling worker; null when none is left for it */
  #assign(asking: PooledWorker, starts: readonly Start[]): Start | null {
    const self = this.#workers.find(({ worker }) => worker === asking);
    if (self === undefined) return null;
    const others = this.#workers.filter((each) => each !== self);
    const free = starts.filter((start) => !others.some(({ gpu }) => gpu === gpuOf(start)));
    const own = free.find((start) => gpuOf(start) === self.gpu) ?? free[0];
    if (own === undefined) this.#dismiss(asking);
    else self.gpu = gpuOf(own);
    for (const start of free) if (start !== own) this.#add(gpuOf(start), start);
    const planned = starts.map(gpuOf);
    const isPlanned = (gpu: string | null) => gpu === null || planned.includes(gpu);
    for (const { worker, gpu } of others) if (!isPlanned(gpu)) worker.renew();
    const placeOf = (gpu: string | null) => (isPlanned(gpu) ? planned.indexOf(gpu ?? "") : planned.length);
    this.#workers.sort((a, b) => placeOf(a.gpu) - placeOf(b.gpu));
    return own ?? null;
  }

  /** Removes a worker that calls `prepare` and gets no start; it is not running anything. */
  #dismiss(worker: PooledWorker): void {
    this.#workers = this.#workers.filter((each) => each.worker !== worker);
    this.#restartsOfDismissed += worker.status().restarts;
    worker.close();
  }
}

function gpuOf({ gpu }: Start): string {
  return gpu?.label ?? "";
}

function sharedTrouble(statuses: readonly WorkerStatus[]): string | null {
  const troubles = statuses.map(({ trouble }) => trouble);
  return troubles.includes(null) ? null : (troubles[0] ?? null);
}
