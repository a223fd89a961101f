import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../wording/index.ts";
import type { EngineOptions, WorkerDeath } from "./engine-options.ts";
import { EngineOperationError } from "./errors.ts";
import {
  type FromWorker,
  type GpuMemory,
  type OperationName,
  operations,
  type Params,
  type Result,
} from "./protocol.ts";
import { givenUp, isSuspect, type Task, type Tries } from "./task.ts";
import { modelOf, type Operation, TimeLimits } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";
import { type CountedOperation, workOf } from "./work-done.ts";
import { WorkerProcess } from "./worker-process.ts";

export type EngineState = "starting" | "ready" | "failing" | "closed";

/**
 * Runs operations in a worker process and outlives it: when the worker dies, another is started and what was running is
 * run again. A worker that comes to no end with what it does is ended. Operations are served in the order they come, so
 * recordings that ask for one part at a time take turns.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #waiting: Task[] = [];
  readonly #running = new Map<number, Task>();
  #worker: WorkerProcess | null = null;
  #state: EngineState = "starting";
  #trouble: string | null = null;
  #lastDeath: WorkerDeath | null = null;
  #speechDevice = "cpu";
  #gpus: readonly GpuMemory[] = [];
  #failures = 0;
  #restarts = 0;
  #nextId = 1;
  /** The worker shall make room for another as soon as nothing runs. */
  #renewal = false;
  /** Of what the worker does, by the operation's id; `start` while it loads its models. */
  readonly #watchdog: Watchdog<number | "start">;
  readonly #limits: TimeLimits;
  /** Whisper models that this worker has worked with. */
  readonly #modelsUsed = new Set<string>();
  readonly #closing = new AbortController();
  readonly #whenReady = Promise.withResolvers<void>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#limits = options.timeLimits ?? new TimeLimits();
    this.#watchdog = new Watchdog(options.lookMilliseconds ?? 1000);
    void this.#startWorker();
  }

  /** How it stands; `trouble` says why it is not ready, or that what it does takes far too long. */
  status(): {
    state: EngineState;
    trouble: string | null;
    /** Whether there is anything to do. */
    busy: boolean;
    restarts: number;
    workerPid: number | null;
    gpus: readonly GpuMemory[];
  } {
    const { pid } = this.#worker ?? { pid: null };
    const [state, restarts, gpus] = [this.#state, this.#restarts, this.#gpus];
    const busy = this.#running.size + this.#waiting.length > 0;
    return { state, trouble: this.#trouble ?? this.#late(), busy, restarts, workerPid: pid, gpus };
  }

  /** What has taken more than half of its time, in words. */
  #late(): string | null {
    for (const { id, operation } of this.#running.values()) {
      const standing = this.#watchdog.standing(id);
      if (standing === null || standing.seconds < standing.limitSeconds / 2) continue;
      return `the worker has been at one ${operation.name} for ${Math.floor(standing.seconds)} s`;
    }
    return null;
  }

  /** Settles when a worker was ready for the first time. */
  ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  /**
   * Runs one operation.
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
    if (this.#state === "closed") return Promise.reject(new EngineOperationError("the engine is closed"));
    return new Promise<Result<N>>((resolve, reject) => {
      const id = this.#nextId++;
      const abort = () => {
        task.abandoned = true;
        const place = this.#waiting.indexOf(task);
        if (place >= 0) this.#waiting.splice(place, 1);
        else this.#worker?.send({ type: "cancel", id });
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
      this.#waiting.push(task);
      this.#pump();
    });
  }

  /** Tells the worker that whisper models other than these are not needed any more. */
  keepModels(paths: readonly string[]): void {
    if (this.#state !== "ready") return;
    this.#worker?.send({ type: "keepModels", paths: [...paths] });
    for (const path of this.#modelsUsed) if (!paths.includes(path)) this.#modelsUsed.delete(path);
  }

  /** Has another worker started, which asks anew what to load, as soon as what runs is done; what waits goes to that one. */
  renewWorker(): void {
    this.#renewal = true;
    this.#renewIfIdle();
  }

  /** Ends the worker; what still runs or waits is rejected. */
  async close(): Promise<void> {
    this.#state = "closed";
    this.#closing.abort();
    this.#watchdog[Symbol.dispose]();
    const worker = this.#worker;
    for (const task of [...this.#running.values(), ...this.#waiting.splice(0)]) {
      task.settle({ error: new EngineOperationError("the engine is closed") });
    }
    this.#running.clear();
    worker?.kill();
    await worker?.ended();
  }

  /** Starts what may start: in order, as many as there are lanes; one that is suspected of killing runs alone. */
  #pump(): void {
    if (this.#state !== "ready" || this.#renewal) return;
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#running.size >= this.#options.lanes) return;
      const suspectRuns = [...this.#running.values()].some(isSuspect);
      if (this.#running.size > 0 && (isSuspect(next) || suspectRuns)) return;
      this.#waiting.shift();
      this.#begin(next);
    }
  }

  #begin(task: Task): void {
    const { id, operation, tries } = task;
    try {
      tries?.begins();
    } catch (error) {
      task.settle({ error: error instanceof Error ? error : new Error(messageOf(error)) });
      return;
    }
    this.#running.set(id, task);
    task.startedAt = performance.now();
    const model = modelOf(operation);
    const isFirst = model !== null && !this.#modelsUsed.has(model);
    if (model !== null) this.#modelsUsed.add(model);
    // What was ended wrongly gets there in the end.
    const limit = this.#limits.of(this.#onDevice(operation), isFirst) * 2 ** task.deaths;
    this.#watchdog.watch(id, limit, (seconds) => {
      task.stalled = true;
      this.#endStuckWorker(`the worker was at one ${operation.name} for ${Math.floor(seconds)} s`, limit);
    });
    this.#worker?.send({ type: "run", id, operation: operation.name, params: operation.params });
  }

  #onDevice(operation: Task["operation"]): Operation {
    return { ...operation, speechDevice: this.#speechDevice };
  }

  #endStuckWorker(trouble: string, limitSeconds: number): void {
    this.#trouble = trouble;
    this.#options.log.error({ event: "engine.stalled", trouble, limitSeconds });
    this.#worker?.kill();
  }

  async #startWorker(): Promise<void> {
    this.#renewal = false;
    try {
      const start = await this.#options.prepare(this.#lastDeath, this.#closing.signal);
      if (this.#state === "closed") return;
      this.#worker = new WorkerProcess(this.#options.command, start, {
        onMessage: (message) => this.#receive(message),
        onLogLine: (line) => this.#options.log.debug({ event: "engine.log", line }),
        onExit: (how) => this.#workerEnded(how),
      });
      const limit = this.#limits.ofStart(start);
      this.#watchdog.watch("start", limit, (seconds) =>
        this.#endStuckWorker(`the models were not loaded after ${Math.floor(seconds)} s`, limit),
      );
    } catch (error) {
      if (this.#state === "closed") return;
      this.#trouble = messageOf(error);
      this.#startAgain();
    }
  }

  #receive(message: FromWorker): void {
    if (this.#state === "closed") return;
    switch (message.type) {
      case "ready":
        this.#watchdog.release("start");
        this.#state = "ready";
        this.#trouble = null;
        this.#failures = 0;
        this.#speechDevice = message.speechDevice;
        this.#options.log.info({
          event: "engine.ready",
          cpuVariant: message.cpuVariant,
          devices: message.devices,
          speechDevice: message.speechDevice,
        });
        this.#whenReady.resolve();
        this.#renewIfIdle();
        this.#pump();
        return;
      case "gpuMemory":
        this.#gpus = message.gpus;
        return;
      case "unusable":
        this.#trouble = message.message;
        return;
      case "done":
        this.#finish(message.id, { result: message.result });
        return;
      case "failed":
        this.#finish(message.id, { error: new EngineOperationError(message.message, message.code) });
    }
  }

  #finish(id: number, outcome: Parameters<Task["settle"]>[0]): void {
    const task = this.#running.get(id);
    this.#running.delete(id);
    this.#watchdog.release(id);
    if (task !== undefined && "result" in outcome) {
      const { name, params } = task.operation;
      const seconds = (performance.now() - task.startedAt) / 1000;
      // What was told to stop may have done half of it.
      if (!task.abandoned) this.#limits.learn(this.#onDevice(task.operation), seconds);
      if (name !== "tryOut") {
        const work = workOf(name, params as Params<CountedOperation>, this.#speechDevice);
        this.#options.onWork?.({ ...work, seconds });
      }
    }
    task?.settle(outcome);
    this.#renewIfIdle();
    this.#pump();
  }

  /** A worker that starts has asked already what to load, so it is renewed too, once it is ready. */
  #renewIfIdle(): void {
    if (this.#renewal && this.#state === "ready" && this.#running.size === 0) this.#worker?.kill();
  }

  #workerEnded(how: WorkerDeath): void {
    if (this.#state === "closed") return;
    this.#gpus = [];
    this.#watchdog.releaseAll();
    this.#modelsUsed.clear();
    if (this.#renewal && this.#state === "ready" && this.#running.size === 0) {
      this.#beginAgain();
      return;
    }
    this.#lastDeath = how;
    this.#options.onWorkerDeath?.(how);
    const wasReady = this.#state === "ready";
    this.#worker = null;
    this.#restarts += 1;
    this.#trouble ??= `the worker ended with ${how.signal ?? `exit code ${how.exitCode}`}`;
    const interrupted = [...this.#running.values()];
    this.#running.clear();
    this.#options.log.error({
      event: "engine.worker_died",
      ...how,
      trouble: this.#trouble,
      operations: interrupted.map(({ operation }) => operation.name),
    });
    const someStalled = interrupted.some(({ stalled }) => stalled);
    for (const task of interrupted.toReversed()) {
      if (task.abandoned) continue;
      // What ran beside one that stalled is not to blame.
      if (!someStalled || task.stalled) this.#blame(task, how);
      const error = givenUp(task);
      if (error === null) this.#waiting.unshift(task);
      else task.settle({ error });
      task.stalled = false;
    }
    if (wasReady) {
      this.#beginAgain();
    } else {
      this.#startAgain();
    }
  }

  #blame(task: Task, { signal }: WorkerDeath): void {
    // No code brings this upon itself: somebody did, the kernel when memory was short, or the watchdog.
    const wasKilled = signal === "SIGKILL" && !task.stalled;
    if (wasKilled) task.kills += 1;
    else task.deaths += 1;
    try {
      task.tries?.died(wasKilled ? "killed" : "of itself");
    } catch (error) {
      // It counts here all the same.
      this.#options.log.error({ event: "engine.death_not_kept", trouble: messageOf(error) });
    }
  }

  #beginAgain(): void {
    this.#worker = null;
    this.#state = "starting";
    void this.#startWorker();
  }

  #startAgain(): void {
    this.#failures += 1;
    this.#state = this.#failures >= 3 ? "failing" : "starting";
    const delay = (this.#options.restartDelayMilliseconds ?? defaultRestartDelay)(this.#failures);
    this.#options.log.error({ event: "engine.start_failed", trouble: this.#trouble, failures: this.#failures, delay });
    setTimeout(() => {
      if (this.#state !== "closed") void this.#startWorker();
    }, delay);
  }
}

function defaultRestartDelay(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1));
}
