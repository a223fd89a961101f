import { Value } from "@sinclair/typebox/value";
import { isLiveOperation, type OperationName, operations, type Params, type Result } from "../operations/index.ts";
import { messageOf } from "../text/index.ts";
import { type EngineOptions, type ResolvedOptions, withDefaults } from "./engine-options.ts";
import { EngineOperationError } from "./errors.ts";
import { type AttemptRecord, countExit, finalError, interruptedError, type Task } from "./task.ts";
import { TaskQueue } from "./task-queue.ts";
import { modelOf } from "./time-limits.ts";
import type { EngineWorker } from "./worker.ts";
import type { Answer } from "./worker-events.ts";
import type { UnexpectedExit } from "./worker-exit.ts";
import { type PoolStatus, WorkerPool } from "./worker-pool.ts";

/** Operations that wait for a lane: those of the recognizer, and the others. */
interface WaitingOperations {
  readonly speech: number;
  readonly speakers: number;
}

/**
 * Runs operations in worker processes and survives their crashes. When a worker exits, the engine starts another and
 * retries the interrupted operations, in that worker or another one. It kills a worker that is stuck. Operations start
 * in the order of their requests, so recordings that request one part at a time alternate (round robin). Those of live
 * sessions start first, and are not retried: their caller has newer sound by then.
 */
export class Engine {
  readonly #options: ResolvedOptions;
  readonly #queue = new TaskQueue();
  readonly #pool: WorkerPool;
  readonly #whenReady = Promise.withResolvers<void>();
  readonly #idleTimer: NodeJS.Timeout;
  /** When an operation was last requested or finished, or expected soon. */
  #usedAt = performance.now();
  #isClosed = false;
  #nextId = 1;

  constructor(options: EngineOptions) {
    this.#options = withDefaults(options);
    this.#idleTimer = setInterval(() => this.#sleepIfIdle(), this.#options.checkMilliseconds);
    this.#idleTimer.unref();
    this.#pool = new WorkerPool(this.#options, {
      onReady: () => {
        if (this.#pool.status().state === "ready") this.#whenReady.resolve();
        this.#usedAt = performance.now();
        this.#startWaiting();
      },
      onAnswer: (task, answer) => {
        if (task !== null) this.#settle(task, answer);
        this.#startWaiting();
      },
      onUnexpectedExit: (interrupted, exit, trouble) => {
        this.#retry(interrupted, exit, trouble);
        this.#startWaiting();
      },
    });
  }

  /** Returns the status. `trouble`: why the engine cannot work. `busy`: whether an operation waits or runs. */
  status(): PoolStatus & { readonly busy: boolean; readonly waiting: WaitingOperations } {
    const speech = this.#queue.count(({ operation }) => modelOf(operation) !== null);
    const waiting = { speech, speakers: this.#queue.count(() => true) - speech };
    return { ...this.#pool.status(), busy: this.#isBusy, waiting };
  }

  /**
   * Number of parts of one recording that are worth requesting at the same time: as many as run at the same time. The
   * parts of several recordings take turns.
   */
  get partsAtOnce(): number {
    return this.#pool.partsAtOnce;
  }

  /** Number of operations of the recognizer that run at the same time; 0 while no worker for them has started. */
  get lanes(): number {
    return this.#pool.speechLanes;
  }

  /**
   * Number of operations of the recognizer that run at the same time in workers of their own; 0 where all operations
   * share the lanes.
   */
  get recognizerLanes(): number {
    return this.#pool.recognizerLanes;
  }

  /** Resolves when all operations can run for the first time. */
  ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  /** Starts workers that sleep, because an operation is expected soon. */
  wake(): void {
    this.#usedAt = performance.now();
    this.#options.onUse();
    this.#wakeWorkers();
  }

  /**
   * Runs one operation. Starts the workers that sleep.
   * @param record of earlier attempts
   * @throws {EngineCrashError} when the worker crashes at this operation too often; at a live operation, once
   * @throws {EngineOperationError} when the operation fails without harming the worker
   * @throws the signal's reason when it is aborted; the worker is requested to stop
   */
  run<N extends OperationName>(
    operation: N,
    params: Params<N>,
    signal: AbortSignal,
    record: AttemptRecord | null = null,
  ): Promise<Result<N>> {
    signal.throwIfAborted();
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise<Result<N>>((resolve, reject) => {
      const abort = () => {
        task.cancelled = true;
        // Other tasks may have waited behind this one.
        if (this.#queue.withdraw(task)) this.#startWaiting();
        else for (const worker of this.#pool.workers) worker.cancel(task);
        reject(signal.reason);
      };
      const task: Task = {
        id: this.#nextId++,
        operation: { name: operation, params },
        record,
        settle(outcome) {
          signal.removeEventListener("abort", abort);
          if ("error" in outcome) reject(outcome.error);
          else if (Value.Check(operations[operation].result, outcome.result)) resolve(outcome.result as Result<N>);
          else reject(new EngineOperationError(`the worker's answer to ${operation} does not match its schema`));
        },
        startedAt: 0,
        crashes: record?.crashes ?? 0,
        kills: 0,
        stalled: false,
        cancelled: false,
      };
      const error = finalError(task);
      if (error !== null) return reject(error);
      signal.addEventListener("abort", abort, { once: true });
      this.#queue.add(task);
      this.#noteUse(operation);
      if (operation !== "selfTest") this.#options.onUse();
      this.#wakeWorkers();
      this.#startWaiting();
    });
  }

  /** Makes the workers free all speech models except these. */
  keepModels(paths: readonly string[]): void {
    for (const worker of this.#pool.workers) worker.keepModels(paths);
  }

  /** Replaces each worker's process, once it is idle, by a new one for which `prepare` is called again. */
  renewWorkers(): void {
    for (const worker of this.#pool.workers) worker.renew();
  }

  /** Ends the workers and rejects all running and waiting operations. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#idleTimer);
    const { workers } = this.#pool;
    const running = workers.flatMap((worker) => worker.close());
    for (const task of [...running, ...this.#queue.clear()]) task.settle({ error: closedError() });
    await Promise.all(workers.map((worker) => worker.closed()));
  }

  get #isBusy(): boolean {
    return !this.#queue.isEmpty || this.#pool.workers.some((worker) => !worker.isIdle);
  }

  #wakeWorkers(): void {
    for (const worker of this.#pool.workers) worker.wake();
  }

  #sleepIfIdle(): void {
    const limit = this.#options.idleMilliseconds();
    if (limit <= 0 || performance.now() - this.#usedAt < limit || this.#isBusy) return;
    for (const worker of this.#pool.workers) worker.sleep();
  }

  /** Restarts the idle time. A self-test does not, so that a worker with no other operations can fall asleep. */
  #noteUse(operation: OperationName): void {
    if (operation !== "selfTest") this.#usedAt = performance.now();
  }

  /** Starts as many waiting operations as the workers can take now. */
  #startWaiting(): void {
    for (;;) {
      const next = this.#queue.take((task) => this.#pool.workerFor(task));
      if (next === null) return;
      this.#start(next.task, next.worker);
    }
  }

  #start(task: Task, worker: EngineWorker): void {
    try {
      task.record?.onStart();
    } catch (error) {
      task.settle({ error: error instanceof Error ? error : new Error(messageOf(error)) });
      return;
    }
    worker.run(task);
  }

  #settle(task: Task, answer: Answer): void {
    this.#noteUse(task.operation.name);
    if (answer.type === "done") task.settle({ result: answer.result });
    else task.settle({ error: new EngineOperationError(answer.message, answer.code) });
  }

  /** Puts interrupted operations back at the head of the queue, except the ones that have no attempt left. */
  #retry(interrupted: readonly Task[], exit: UnexpectedExit, trouble: string): void {
    const { log } = this.#options;
    const { running: _, ...how } = exit;
    // Logged only after the crash is recorded: a reader of the log may kill the server.
    countExit(interrupted, exit, log);
    const names = interrupted.map(({ operation }) => operation.name);
    log.error({ event: "engine.worker_exited", ...how, trouble, operations: names });
    const retried = interrupted.filter((task) => {
      if (task.cancelled) return false;
      const error = isLiveOperation(task.operation.name) ? interruptedError(task) : finalError(task);
      if (error !== null) task.settle({ error });
      task.stalled = false;
      return error === null;
    });
    this.#queue.putBack(retried);
  }
}

const closedError = () => new EngineOperationError("the engine is closed");
