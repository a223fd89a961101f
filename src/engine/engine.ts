import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../wording/index.ts";
import { blame, givenUp } from "./blame.ts";
import type { EngineOptions, WorkerDeath } from "./engine-options.ts";
import { EngineOperationError } from "./errors.ts";
import { IdleTime } from "./idle-time.ts";
import { Lanes } from "./lanes.ts";
import { OperationTimes } from "./operation-times.ts";
import { type OperationName, operations, type Params, type Result } from "./protocol.ts";
import type { Task, Tries } from "./task.ts";
import { TimeLimits } from "./time-limits.ts";
import { type CountedOperation, workOf } from "./work-done.ts";
import { type Answer, WorkerLife } from "./worker-life.ts";

const defaultLookMilliseconds = 1000;

/**
 * Runs operations in a worker process and outlives it: when the worker dies, another is started and what was running is
 * run again. A worker that comes to no end with what it does is ended. Operations are served in the order they come, so
 * recordings that ask for one part at a time take turns.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #lanes: Lanes;
  readonly #times: OperationTimes;
  readonly #worker: WorkerLife;
  readonly #idleTime: IdleTime;
  #nextId = 1;

  constructor(options: EngineOptions) {
    const { timeLimits = new TimeLimits(), lookMilliseconds = defaultLookMilliseconds } = options;
    this.#options = options;
    this.#lanes = new Lanes(options.lanes);
    this.#times = new OperationTimes(timeLimits, lookMilliseconds);
    this.#idleTime = new IdleTime({
      limitMilliseconds: options.idleMilliseconds ?? (() => 0),
      lookMilliseconds,
      onIdle: () => {
        if (this.#lanes.isEmpty) this.#worker.sleep();
      },
    });
    this.#worker = new WorkerLife(options, timeLimits, lookMilliseconds, {
      onStart: ({ lanes = options.lanes }) => this.#lanes.setCount(lanes),
      onReady: () => {
        this.#idleTime.used();
        this.#pump();
      },
      onAnswer: (answer) => this.#finish(answer),
      isIdle: () => this.#lanes.nothingRuns,
      onGone: () => this.#times.workerGone(),
      onDeath: (how, trouble) => this.#tryAgain(how, trouble),
    });
  }

  /**
   * How it stands; `trouble` says why it is not ready, or that what it does takes far too long, `busy` whether there is
   * anything to do.
   */
  status(): ReturnType<WorkerLife["status"]> & { busy: boolean } {
    const { trouble, ...worker } = this.#worker.status();
    return { ...worker, trouble: trouble ?? this.#times.late(this.#lanes.running()), busy: !this.#lanes.isEmpty };
  }

  /** Settles when a worker was ready for the first time. */
  ready(): Promise<void> {
    return this.#worker.ready();
  }

  /** Has a worker that sleeps started: somebody will need it soon. */
  wake(): void {
    this.#idleTime.used();
    this.#worker.wake();
  }

  /**
   * Runs one operation. A worker that sleeps is started for it.
   * @param tries what is known of earlier tries
   * @throws {EngineCrashError} when the worker dies of it again and again
   * @throws {EngineOperationError} when it fails without harming the worker
   * @throws the signal's reason when it is aborted; the worker is told to stop
   */
  run<N extends OperationName>(
    operation: N,
    params: Params<N>,
    signal: AbortSignal,
    tries: Tries | null = null,
  ): Promise<Result<N>> {
    signal.throwIfAborted();
    if (this.#worker.isClosed) return Promise.reject(closedError());
    return new Promise<Result<N>>((resolve, reject) => {
      const id = this.#nextId++;
      const abort = () => {
        task.abandoned = true;
        if (!this.#lanes.withdraw(task)) this.#worker.send({ type: "cancel", id });
        reject(signal.reason);
      };
      const settle: Task["settle"] = (outcome) => {
        signal.removeEventListener("abort", abort);
        if ("error" in outcome) reject(outcome.error);
        else if (Value.Check(operations[operation].result, outcome.result)) resolve(outcome.result as Result<N>);
        else reject(new EngineOperationError(`the worker's answer to ${operation} is not what it should be`));
      };
      signal.addEventListener("abort", abort, { once: true });
      const begins = { startedAt: 0, deaths: tries?.deaths ?? 0, kills: 0, stalled: false, abandoned: false };
      const task: Task = { id, operation: { name: operation, params }, tries, settle, ...begins };
      const tooLate = givenUp(task);
      if (tooLate !== null) return settle({ error: tooLate });
      this.#lanes.add(task);
      this.#used(operation);
      this.#worker.wake();
      this.#pump();
    });
  }

  /** Tells the worker that whisper models other than these are not needed any more. */
  keepModels(paths: readonly string[]): void {
    if (this.#worker.status().state !== "ready") return;
    this.#worker.send({ type: "keepModels", paths: [...paths] });
    this.#times.keepModels(paths);
  }

  /** Has another worker started, which asks anew what to load, as soon as what runs is done; what waits goes to that one. */
  renewWorker(): void {
    this.#worker.renew();
  }

  /** Ends the worker; what still runs or waits is rejected. */
  async close(): Promise<void> {
    this.#worker.close();
    this.#times[Symbol.dispose]();
    this.#idleTime[Symbol.dispose]();
    for (const task of this.#lanes.clear()) task.settle({ error: closedError() });
    await this.#worker.ended();
  }

  /** Gives the worker what may begin. */
  #pump(): void {
    while (this.#worker.takesWork) {
      const next = this.#lanes.begin();
      if (next === null) return;
      this.#begin(next);
    }
  }

  #begin(task: Task): void {
    const { id, operation, tries } = task;
    try {
      tries?.begins();
    } catch (error) {
      this.#lanes.end(id);
      task.settle({ error: error instanceof Error ? error : new Error(messageOf(error)) });
      return;
    }
    this.#times.begins(task, this.#worker.speechDevice, (trouble, limitSeconds) => {
      task.stalled = true;
      this.#worker.endStuck(trouble, limitSeconds);
    });
    this.#worker.send({ type: "run", id, operation: operation.name, params: operation.params });
  }

  #finish(answer: Answer): void {
    this.#times.ended(answer.id);
    const task = this.#lanes.end(answer.id);
    if (task !== null) {
      this.#used(task.operation.name);
      if (answer.type === "done") this.#count(task);
      task.settle(
        answer.type === "done"
          ? { result: answer.result }
          : { error: new EngineOperationError(answer.message, answer.code) },
      );
    }
    this.#worker.renewIfIdle();
    this.#pump();
  }

  /** Whoever tries the worker out now and then keeps it from no sleep. */
  #used(operation: OperationName): void {
    if (operation !== "tryOut") this.#idleTime.used();
  }

  /** Tells of an operation that was done. */
  #count(task: Task): void {
    const { speechDevice } = this.#worker;
    const seconds = this.#times.done(task, speechDevice);
    const { name, params } = task.operation;
    if (name === "tryOut") return;
    this.#options.onWork?.({ ...workOf(name, params as Params<CountedOperation>, speechDevice), seconds });
  }

  /** What the worker was at when it died is for the next one, before all else, unless it was that too often. */
  #tryAgain(how: WorkerDeath, trouble: string): void {
    const { log } = this.#options;
    const interrupted = this.#lanes.interrupt();
    const names = interrupted.map(({ operation }) => operation.name);
    log.error({ event: "engine.worker_died", ...how, trouble, operations: names });
    blame(interrupted, how, log);
    const again = interrupted.filter((task) => {
      if (task.abandoned) return false;
      const error = givenUp(task);
      if (error !== null) task.settle({ error });
      task.stalled = false;
      return error === null;
    });
    this.#lanes.putBack(again);
  }
}

const closedError = () => new EngineOperationError("the engine is closed");
