import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../text/index.ts";
import { countExit, finalError } from "./attempts.ts";
import { type CountedOperation, describeWork } from "./completed-operation.ts";
import type { EngineOptions, UnexpectedExit } from "./engine-options.ts";
import { EngineOperationError } from "./errors.ts";
import { IdleTime } from "./idle-time.ts";
import type { PooledWorker } from "./pooled-worker.ts";
import { type OperationName, operations, type Params, type Result } from "./protocol.ts";
import type { AttemptRecord, Task } from "./task.ts";
import { TimeLimits } from "./time-limits.ts";
import { WaitingTasks } from "./waiting-tasks.ts";
import type { Answer } from "./worker-life.ts";
import { type PoolStatus, WorkerPool } from "./worker-pool.ts";

const defaultLookMilliseconds = 1000;

/**
 * Runs operations in worker processes and survives their crashes. When a worker exits, the engine starts another and
 * retries the interrupted operations, in that worker or another one. It kills a worker that is stuck. Operations start
 * in the order of their requests, so recordings that request one part at a time alternate (round robin).
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #waiting = new WaitingTasks();
  readonly #workers: WorkerPool;
  readonly #idleTime: IdleTime;
  readonly #whenReady = Promise.withResolvers<void>();
  #isClosed = false;
  #nextId = 1;

  constructor(given: EngineOptions) {
    const options = { timeLimits: new TimeLimits(), checkMilliseconds: defaultLookMilliseconds, ...given };
    this.#options = options;
    this.#idleTime = new IdleTime({
      limitMilliseconds: options.idleMilliseconds ?? (() => 0),
      checkMilliseconds: options.checkMilliseconds,
      onIdle: () => {
        if (!this.#isBusy) this.#workers.sleep();
      },
    });
    this.#workers = new WorkerPool(options, {
      onReady: () => {
        this.#whenReady.resolve();
        this.#idleTime.used();
        this.#pump();
      },
      onAnswer: (task, answer, worker, seconds) => {
        if (task !== null) this.#finish(task, answer, worker, seconds);
        this.#pump();
      },
      onDeath: (interrupted, how, trouble) => {
        this.#tryAgain(interrupted, how, trouble);
        this.#pump();
      },
    });
  }

  /**
   * Returns the status: `trouble` says why the engine cannot work properly, `busy` whether any operation waits or runs.
   */
  status(): PoolStatus & { busy: boolean } {
    return { ...this.#workers.status(), busy: this.#isBusy };
  }

  /**
   * Number of parts of one recording that are worth requesting at the same time. On the CPU it is the number of parts
   * that run at the same time, each on its share of the threads. On a GPU it is one, because one part keeps the GPU
   * busy and recordings take turns.
   */
  get partsAtOnce(): number {
    return this.#workers.partsAtOnce;
  }

  /** Resolves when a worker is ready for the first time. */
  ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  /** Starts workers that sleep, because an operation is expected soon. */
  wake(): void {
    this.#idleTime.used();
    this.#workers.wake();
  }

  /**
   * Runs one operation. Starts the workers that sleep.
   * @param record of earlier attempts
   * @throws {EngineCrashError} when the worker crashes at this operation too often
   * @throws {EngineOperationError} when the operation fails without harming the worker
   * @throws the signal's reason when it is aborted; the worker is told to stop
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
      const id = this.#nextId++;
      const abort = () => {
        task.cancelled = true;
        // Other tasks may have waited behind this one.
        if (this.#waiting.withdraw(task)) this.#pump();
        else this.#workers.cancel(task);
        reject(signal.reason);
      };
      const settle: Task["settle"] = (outcome) => {
        signal.removeEventListener("abort", abort);
        if ("error" in outcome) reject(outcome.error);
        else if (Value.Check(operations[operation].result, outcome.result)) resolve(outcome.result as Result<N>);
        else reject(new EngineOperationError(`the worker's answer to ${operation} is not what it should be`));
      };
      signal.addEventListener("abort", abort, { once: true });
      const begins = { startedAt: 0, crashes: record?.crashes ?? 0, kills: 0, stalled: false, cancelled: false };
      const task: Task = { id, operation: { name: operation, params }, record, settle, ...begins };
      const tooLate = finalError(task);
      if (tooLate !== null) return settle({ error: tooLate });
      this.#waiting.add(task);
      this.#used(operation);
      this.#workers.wake();
      this.#pump();
    });
  }

  /** Tells the workers to free all speech models except these. */
  keepModels(paths: readonly string[]): void {
    this.#workers.keepModels(paths);
  }

  /** Replaces each worker, once it is idle, by a new one that calls `prepare` again. */
  renewWorkers(): void {
    this.#workers.renew();
  }

  /** Ends the workers and rejects all running and waiting operations. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#workers.close();
    this.#idleTime[Symbol.dispose]();
    for (const task of [...running, ...this.#waiting.clear()]) task.settle({ error: closedError() });
    await this.#workers.ended();
  }

  get #isBusy(): boolean {
    return !this.#waiting.isEmpty || !this.#workers.nothingRuns;
  }

  /** Starts as many waiting operations as the workers can take now. */
  #pump(): void {
    for (;;) {
      const next = this.#waiting.take((task) => this.#workers.placeFor(task));
      if (next === null) return;
      this.#begin(next.task, next.place);
    }
  }

  #begin(task: Task, worker: PooledWorker): void {
    try {
      task.record?.onStart();
    } catch (error) {
      task.settle({ error: error instanceof Error ? error : new Error(messageOf(error)) });
      return;
    }
    worker.begin(task);
  }

  #finish(task: Task, answer: Answer, worker: PooledWorker, seconds: number | null): void {
    const { name, params } = task.operation;
    this.#used(name);
    if (seconds !== null && name !== "selfTest") {
      this.#options.onCompletion?.({
        ...describeWork(name, params as Params<CountedOperation>, worker.devices),
        seconds,
      });
    }
    task.settle(
      answer.type === "done"
        ? { result: answer.result }
        : { error: new EngineOperationError(answer.message, answer.code) },
    );
  }

  /**
   * Restarts the idle time. A self-test (`selfTest`) does not, so that a worker with no other operations can fall asleep.
   */
  #used(operation: OperationName): void {
    if (operation !== "selfTest") this.#idleTime.used();
  }

  /** Puts interrupted operations back at the head of the queue, except the ones that crashed too many workers. */
  #tryAgain(interrupted: readonly Task[], how: UnexpectedExit, trouble: string): void {
    const { log } = this.#options;
    const names = interrupted.map(({ operation }) => operation.name);
    const { running: _, ...end } = how;
    // Logged only after the crash is recorded: a reader of the log may kill the server.
    countExit(interrupted, how, log);
    log.error({ event: "engine.worker_exited", ...end, trouble, operations: names });
    const again = interrupted.filter((task) => {
      if (task.cancelled) return false;
      const error = finalError(task);
      if (error !== null) task.settle({ error });
      task.stalled = false;
      return error === null;
    });
    this.#waiting.putBack(again);
  }
}

const closedError = () => new EngineOperationError("the engine is closed");
