import type { EngineOptions, WorkerDeath } from "./engine-options.ts";
import { PooledWorker, type WorkerPoolUser } from "./pooled-worker.ts";
import type { Start } from "./protocol.ts";
import type { Task } from "./task.ts";
import { modelOf, TimeLimits } from "./time-limits.ts";
import type { EngineState, WorkerStatus } from "./worker-life.ts";

/** How the workers stand together. */
export interface PoolStatus {
  /** That of the one that is nearest to working. */
  readonly state: EngineState;
  /** What is the matter, where none of them can work as it should. */
  readonly trouble: string | null;
  readonly restarts: number;
  /** Each of them. */
  readonly workers: readonly WorkerStatus[];
}

const nearestToWorking: readonly EngineState[] = ["ready", "waking", "asleep", "starting", "failing", "closed"];

/**
 * The workers: one for each start that `prepare` tells of, which is asked again whenever one of them starts. One that dies
 * takes nothing from the others. The first is the one for all that whisper has no part in, so that the CPU's threads are
 * those of one process.
 */
export class WorkerPool {
  readonly #options: EngineOptions;
  readonly #limits: TimeLimits;
  readonly #lookMilliseconds: number;
  readonly #user: WorkerPoolUser;
  /** In the order in which they were told of, each with what it is for; null: that is not known yet. */
  #workers: { readonly worker: PooledWorker; device: string | null }[] = [];
  /** The latest question what to load; they are asked one after the other. */
  #planning: Promise<unknown> = Promise.resolve();
  #restartsOfDismissed = 0;

  /** @param lookMilliseconds how often is looked whether a worker comes to an end */
  constructor(options: EngineOptions, lookMilliseconds: number, user: WorkerPoolUser) {
    this.#options = options;
    this.#lookMilliseconds = lookMilliseconds;
    this.#limits = options.timeLimits ?? new TimeLimits();
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

  /** As of the engine. */
  get partsAtOnce(): number {
    const [first] = this.#workers;
    return first === undefined || first.device !== "" ? 1 : first.worker.lanes;
  }

  /** The worker with the most room for it; null: it has to wait. */
  placeFor(task: Task): PooledWorker | null {
    const working = this.#workers.filter(({ worker }) => worker.takesWork);
    const possible = modelOf(task.operation) === null ? working.slice(0, 1) : working;
    let best: PooledWorker | null = null;
    for (const { worker } of possible) {
      if (worker.takes(task) && worker.room > (best?.room ?? 0)) best = worker;
    }
    return best;
  }

  /** Has whichever worker is at it stop. */
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

  /** Ends them all. @returns what they were at */
  close(): Task[] {
    return this.#workers.flatMap(({ worker }) => worker.close());
  }

  /** Settles when all their processes are gone, after `close`. */
  async ended(): Promise<void> {
    await Promise.all(this.#workers.map(({ worker }) => worker.ended()));
  }

  /** @param planned what it shall load at its first start; null: that is asked */
  #add(device: string | null, planned: Start | null): void {
    let first = planned;
    const worker = new PooledWorker({
      engine: this.#options,
      limits: this.#limits,
      lookMilliseconds: this.#lookMilliseconds,
      user: this.#user,
      prepare: async (death, signal) => {
        const start = first ?? (await this.#prepare(worker, death, signal));
        first = null;
        return start;
      },
    });
    this.#workers.push({ worker, device });
    worker.start();
  }

  async #prepare(worker: PooledWorker, death: WorkerDeath | null, signal: AbortSignal): Promise<Start | null> {
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

  /** Gives each start its worker. @returns the one that is asking's; null: there is none for it */
  #assign(asking: PooledWorker, starts: readonly Start[]): Start | null {
    const self = this.#workers.find(({ worker }) => worker === asking);
    if (self === undefined) return null;
    const others = this.#workers.filter((each) => each !== self);
    const free = starts.filter((start) => !others.some(({ device }) => device === deviceOf(start)));
    const own = free.find((start) => deviceOf(start) === self.device) ?? free[0];
    if (own === undefined) this.#dismiss(asking);
    else self.device = deviceOf(own);
    for (const start of free) if (start !== own) this.#add(deviceOf(start), start);
    const devices = starts.map(deviceOf);
    const isPlanned = (device: string | null) => device === null || devices.includes(device);
    for (const { worker, device } of others) if (!isPlanned(device)) worker.renew();
    const placeOf = (device: string | null) => (isPlanned(device) ? devices.indexOf(device ?? "") : devices.length);
    this.#workers.sort((a, b) => placeOf(a.device) - placeOf(b.device));
    return own ?? null;
  }

  /** It asked what to load, so that it is at nothing. */
  #dismiss(worker: PooledWorker): void {
    this.#workers = this.#workers.filter((each) => each.worker !== worker);
    this.#restartsOfDismissed += worker.status().restarts;
    worker.close();
  }
}

function deviceOf({ gpu }: Start): string {
  return gpu?.label ?? "";
}

function sharedTrouble(statuses: readonly WorkerStatus[]): string | null {
  const troubles = statuses.map(({ trouble }) => trouble);
  return troubles.includes(null) ? null : (troubles[0] ?? null);
}
