import type { WorkerStart } from "../operations/index.ts";
import type { ResolvedOptions } from "./engine-options.ts";
import type { Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";
import { EngineWorker } from "./worker.ts";
import type { WorkerEvents } from "./worker-events.ts";
import type { UnexpectedExit } from "./worker-exit.ts";
import type { WorkerState, WorkerStatus } from "./worker-state.ts";

/** The combined status of all workers. */
export interface PoolStatus {
  /**
   * The best state of all workers, in the order of `nearestToWorking`. With speaker workers, the worse of theirs and
   * that of the others.
   */
  readonly state: WorkerState;
  /** The problem, when every worker in that state has one. */
  readonly trouble: string | null;
  readonly restarts: number;
  readonly workers: readonly WorkerStatus[];
}

interface Member {
  readonly worker: EngineWorker;
  /** See `namesOf`; null: not known yet. */
  name: string | null;
  /** Whether the latest preparation has no start for it: it ends once it is idle. */
  isLeaving: boolean;
}

const nearestToWorking: readonly WorkerState[] = ["ready", "waking", "asleep", "starting", "failing", "closed"];

/**
 * The workers: one for each `WorkerStart` that `prepare` returns. `prepare` is called again whenever one of them
 * starts. A crash of one worker does not harm the others. Operations without the recognizer run in the speaker workers.
 * Without speaker workers, they run in the first worker, so that the CPU's threads belong to one process.
 */
export class WorkerPool {
  readonly #options: ResolvedOptions;
  readonly #events: Omit<WorkerEvents, "prepare">;
  /** In the order of `prepare`. */
  #members: Member[] = [];
  /** The latest call of `prepare`; the calls run one after the other. */
  #preparing: Promise<unknown> = Promise.resolve();
  /** A call of `prepare` that has not begun, for workers that start without a crash. */
  #next: Promise<readonly WorkerStart[]> | null = null;
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
    const speech = statusOf(this.#speech.map((worker) => worker.status()));
    const speakers = this.#speakers.length === 0 ? speech : statusOf(this.#speakers.map((worker) => worker.status()));
    const { state, trouble } = rankOf(speakers.state) > rankOf(speech.state) ? speakers : speech;
    const restarts = workers.reduce((sum, status) => sum + status.restarts, this.#restartsOfDismissed);
    return { state, trouble, restarts, workers };
  }

  /** See `Engine.partsAtOnce`. */
  get partsAtOnce(): number {
    return Math.max(1, lanesOf(this.#speech), lanesOf(this.#speakers));
  }

  /** See `Engine.lanes`. */
  get speechLanes(): number {
    return lanesOf(this.#speech.filter((worker) => worker.acceptsWork));
  }

  /** See `Engine.recognizerLanes`. */
  get recognizerLanes(): number {
    return this.#speakers.length === 0 ? 0 : this.speechLanes;
  }

  /** Returns the worker with the most free lanes that can start the operation; null when it has to wait. */
  workerFor(task: Task): EngineWorker | null {
    let best: EngineWorker | null = null;
    for (const worker of this.#workersOf(task)) {
      if (worker.accepts(task) && worker.freeLanesFor(task) > (best?.freeLanesFor(task) ?? 0)) best = worker;
    }
    return best;
  }

  #workersOf({ operation }: Task): readonly EngineWorker[] {
    const speech = this.#speech;
    if (modelOf(operation) !== null) return speech;
    const speakers = this.#speakers;
    return speakers.length > 0 ? speakers : speech.filter((worker) => worker.acceptsWork).slice(0, 1);
  }

  /** The workers with the recognizer. */
  get #speech(): readonly EngineWorker[] {
    return this.#members.filter(({ name }) => !isOfSpeakers(name)).map(({ worker }) => worker);
  }

  get #speakers(): readonly EngineWorker[] {
    return this.#members.filter(({ name, isLeaving }) => isOfSpeakers(name) && !isLeaving).map(({ worker }) => worker);
  }

  /** @param planned what the worker loads at its first start; null: `prepare` is called */
  #add(name: string | null, planned: WorkerStart | null): void {
    let first = planned;
    const worker = new EngineWorker(this.#options, {
      ...this.#events,
      prepare: async (exit, signal) => {
        const start = first ?? (await this.#prepare(worker, exit, signal));
        first = null;
        return start;
      },
    });
    this.#members.push({ worker, name, isLeaving: false });
    worker.start();
  }

  async #prepare(worker: EngineWorker, exit: UnexpectedExit | null, signal: AbortSignal): Promise<WorkerStart | null> {
    const shared = exit === null ? this.#next : null;
    const prepared = await (shared ?? this.#callPrepare(exit, signal));
    signal.throwIfAborted();
    return this.#assign(worker, prepared);
  }

  #callPrepare(exit: UnexpectedExit | null, signal: AbortSignal): Promise<readonly WorkerStart[]> {
    const starts = this.#preparing
      .catch(() => {})
      .then(() => {
        if (this.#next === starts) this.#next = null;
        signal.throwIfAborted();
        return this.#options.prepare(exit, signal);
      });
    this.#preparing = starts;
    if (exit === null) this.#next = starts;
    return starts;
  }

  /** Assigns a worker to each start. @returns the start of the calling worker; null when none is left for it */
  #assign(caller: EngineWorker, starts: readonly WorkerStart[]): WorkerStart | null {
    const self = this.#members.find(({ worker }) => worker === caller);
    if (self === undefined) return null;
    const others = this.#members.filter((member) => member !== self);
    const planned = namesOf(starts);
    const free = planned.filter(({ name }) => !others.some((other) => other.name === name));
    const own = free.find(({ name }) => name === self.name) ?? free[0];
    if (own === undefined) this.#dismiss(caller);
    else self.name = own.name;
    for (const { name, start } of free) if (name !== own?.name) this.#add(name, start);
    const placeOf = ({ name }: Member) => {
      const place = planned.findIndex((each) => each.name === (name ?? ""));
      return place < 0 ? planned.length : place;
    };
    for (const other of others) {
      other.isLeaving = other.name !== null && placeOf(other) === planned.length;
      if (other.isLeaving) other.worker.renew();
    }
    this.#members.sort((a, b) => placeOf(a) - placeOf(b));
    return own?.start ?? null;
  }

  /** Removes a worker that calls `prepare` and gets no start; it is not running anything. */
  #dismiss(worker: EngineWorker): void {
    this.#members = this.#members.filter((member) => member.worker !== worker);
    this.#restartsOfDismissed += worker.status().restarts;
    worker.close();
  }
}

const ofSpeakers = "speakers ";

function isOfSpeakers(name: string | null): boolean {
  return name?.startsWith(ofSpeakers) === true;
}

/** Returns the starts with the names of their workers: the GPU's label, empty without a GPU; speaker workers have numbers. */
function namesOf(starts: readonly WorkerStart[]): { readonly name: string; readonly start: WorkerStart }[] {
  let speakers = 0;
  return starts.map((start) => ({
    name: start.role === "speakers" ? `${ofSpeakers}${speakers++}` : (start.gpu?.label ?? ""),
    start,
  }));
}

function statusOf(workers: readonly WorkerStatus[]): Pick<PoolStatus, "state" | "trouble"> {
  const state = nearestToWorking.find((each) => workers.some((status) => status.state === each)) ?? "closed";
  const troubles = workers.filter((status) => status.state === state).map(({ trouble }) => trouble);
  return { state, trouble: troubles.includes(null) ? null : (troubles[0] ?? null) };
}

function rankOf(state: WorkerState): number {
  return nearestToWorking.indexOf(state);
}

function lanesOf(workers: readonly EngineWorker[]): number {
  return workers.reduce((sum, worker) => sum + worker.laneCount, 0);
}
