import { Value } from "@sinclair/typebox/value";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../wording/index.ts";
import { EngineCrashError, EngineOperationError } from "./errors.ts";
import {
  type FromWorker,
  type GpuMemory,
  type OperationName,
  operations,
  type Params,
  type Result,
  type Start,
} from "./protocol.ts";
import { type WorkDone, workOf } from "./work-done.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface EngineOptions {
  /** Command line that starts a worker. */
  readonly command: readonly string[];
  /**
   * What a worker shall load; asked before each start and told how the last one ended, so that a CPU variant can be left
   * out. The signal is aborted when the engine is closed meanwhile.
   */
  readonly prepare: (death: WorkerDeath | null, signal: AbortSignal) => Promise<Start>;
  /** Operations that run at once. On a CPU they share its cores, and more at once are slower in sum. */
  readonly lanes: number;
  readonly log: Logger;
  /** Told of each operation that was done. */
  readonly onWork?: (work: WorkDone) => void;
  /** Told of each worker that ended unasked. */
  readonly onWorkerDeath?: (how: WorkerDeath) => void;
  /** Waits before a worker is started again after one that did not become ready, by number of tries. */
  readonly restartDelayMilliseconds?: (failures: number) => number;
}

/** How a worker ended. */
export interface WorkerDeath {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

interface Task {
  readonly id: number;
  readonly operation: OperationName;
  readonly params: unknown;
  readonly settle: (outcome: { result: unknown } | { error: Error }) => void;
  /** What it counts as once it is done, by what whisper computes on. */
  readonly workOn: (speechDevice: string) => Omit<WorkDone, "seconds">;
  /** When the worker was given it, in milliseconds. */
  startedAt: number;
  crashes: number;
  /** Its caller has gone; the worker's answer only frees the lane. */
  abandoned: boolean;
}

export type EngineState = "starting" | "ready" | "failing" | "closed";

/** Deaths at one operation after which it is given up; the last try has the worker to itself. */
const maxCrashes = 3;

/**
 * Runs operations in a worker process and outlives it: when the worker dies, another is started and what was running is
 * run again. Operations are served in the order they come, so recordings that ask for one part at a time take turns.
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
  readonly #closing = new AbortController();
  readonly #whenReady = Promise.withResolvers<void>();

  constructor(options: EngineOptions) {
    this.#options = options;
    void this.#startWorker();
  }

  /** How it stands; `trouble` says why it is not ready. */
  status(): {
    state: EngineState;
    trouble: string | null;
    restarts: number;
    workerPid: number | null;
    gpus: readonly GpuMemory[];
  } {
    const { pid } = this.#worker ?? { pid: null };
    const [state, trouble, restarts, gpus] = [this.#state, this.#trouble, this.#restarts, this.#gpus];
    return { state, trouble, restarts, workerPid: pid, gpus };
  }

  /** Settles when a worker was ready for the first time. */
  ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  /**
   * Runs one operation.
   * @throws {EngineCrashError} when the worker dies of it again and again
   * @throws {EngineOperationError} when it fails without harming the worker
   * @throws the signal's reason when it is aborted; the worker is told to stop
   */
  run<N extends OperationName>(operation: N, params: Params<N>, signal: AbortSignal): Promise<Result<N>> {
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
      const workOn: Task["workOn"] = (device) => workOf(operation, params, device);
      const task: Task = { id, operation, params, settle, workOn, startedAt: 0, crashes: 0, abandoned: false };
      this.#waiting.push(task);
      this.#pump();
    });
  }

  /** Tells the worker that whisper models other than these are not needed any more. */
  keepModels(paths: readonly string[]): void {
    if (this.#state === "ready") this.#worker?.send({ type: "keepModels", paths: [...paths] });
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
      const alone = next.crashes >= maxCrashes - 1;
      const suspectRuns = [...this.#running.values()].some((task) => task.crashes >= maxCrashes - 1);
      if (this.#running.size > 0 && (alone || suspectRuns)) return;
      this.#waiting.shift();
      this.#running.set(next.id, next);
      next.startedAt = performance.now();
      this.#worker?.send({ type: "run", id: next.id, operation: next.operation, params: next.params });
    }
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
    if (task !== undefined && "result" in outcome) {
      const seconds = (performance.now() - task.startedAt) / 1000;
      this.#options.onWork?.({ ...task.workOn(this.#speechDevice), seconds });
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
      operations: interrupted.map((task) => task.operation),
    });
    for (const task of interrupted.toReversed()) {
      if (task.abandoned) continue;
      task.crashes += 1;
      if (task.crashes < maxCrashes) this.#waiting.unshift(task);
      else task.settle({ error: new EngineCrashError(`the worker died ${task.crashes} times at ${task.operation}`) });
    }
    if (wasReady) {
      this.#beginAgain();
    } else {
      this.#startAgain();
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
