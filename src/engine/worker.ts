import {
  type CountedOperation,
  describeWork,
  type FromWorker,
  type Params,
  type SpeechDevice,
  type WorkerStart,
} from "../operations/index.ts";
import { messageOf } from "../text/index.ts";
import { DecoderCount } from "./decoder-count.ts";
import type { ResolvedOptions } from "./engine-options.ts";
import { suspectsById, type Task } from "./task.ts";
import { Lanes } from "./task-queue.ts";
import { modelOf } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";
import type { Answer, WorkerEvents } from "./worker-events.ts";
import { describeExit, identityOf, type ProcessExit, type UnexpectedExit } from "./worker-exit.ts";
import { WorkerProcess } from "./worker-process.ts";
import { type KillReasons, reportedState, type State, stateAfter, type WorkerStatus } from "./worker-state.ts";

/** Number of consecutive failed starts before the state becomes `failing`. */
const FAILURES_UNTIL_FAILING = 3;

/**
 * One of the engine's workers and the operations that it is running. It starts the process, and starts another when it
 * crashes, fails to start, is stuck or is to be replaced.
 */
export class EngineWorker {
  readonly #options: ResolvedOptions;
  readonly #events: WorkerEvents;
  /** The number of lanes comes from the `WorkerStart`. */
  readonly #lanes = new Lanes();
  /** Watches the start, in which a driver may hang, and the operations by their ids. */
  readonly #watchdog: Watchdog<"start" | number>;
  readonly #closing = new AbortController();
  #state: State = { name: "preparing", reported: "starting", restartTimer: null };
  /** The start message of the latest process; null before the first. */
  #start: WorkerStart | null = null;
  /** Speech models that the process has used, so that they need no loading time. */
  readonly #modelsUsed = new Set<string>();
  /** Whether the process is to be replaced as soon as it is idle. */
  #mustRenew = false;
  readonly #decoder = new DecoderCount();
  #trouble: string | null = null;
  /** Passed to `prepare` before the next start. */
  #lastExit: UnexpectedExit | null = null;
  #failedStarts = 0;
  #restarts = 0;

  constructor(options: ResolvedOptions, events: WorkerEvents) {
    this.#options = options;
    this.#events = events;
    this.#watchdog = new Watchdog(options.checkMilliseconds);
  }

  status(): WorkerStatus {
    return {
      state: reportedState(this.#state),
      trouble: this.#trouble ?? this.#lateOperation(),
      restarts: this.#restarts,
      pid: this.#child?.pid ?? null,
      role: this.#start?.role ?? null,
      lanes: this.#lanes.count,
      decoderSlots: this.#start?.slots ?? 1,
      decoder: this.#decoder.status,
      gpu: this.#start?.gpu ?? null,
      gpuMemory: this.#state.name === "ready" ? this.#state.gpuMemory : null,
    };
  }

  get isIdle(): boolean {
    return this.#lanes.isIdle;
  }

  get acceptsWork(): boolean {
    return this.#state.name === "ready" && !this.#mustRenew;
  }

  /** Returns whether the worker can start this operation now. */
  accepts(task: Task): boolean {
    return this.acceptsWork && this.#lanes.accepts(task);
  }

  get laneCount(): number {
    return this.#lanes.count;
  }

  /** Returns the number of free lanes for an operation. */
  freeLanesFor(task: Task): number {
    return this.#lanes.freeFor(task);
  }

  /** Runs an operation, which the worker must accept. */
  run(task: Task): void {
    const { id, operation, crashes } = task;
    this.#lanes.start(task);
    task.startedAt = performance.now();
    const model = modelOf(operation);
    const isFirstUse = model !== null && !this.#modelsUsed.has(model);
    if (model !== null) this.#modelsUsed.add(model);
    // Each earlier crash doubles the limit, in case a slow operation was killed too early.
    const limitSeconds = this.#options.timeLimits.of(this.#timed(task), isFirstUse) * 2 ** crashes;
    this.#watchdog.watch(id, limitSeconds, (seconds) => {
      task.stalled = true;
      this.#killStuck(runningFor(task, seconds), limitSeconds);
    });
    this.#child?.send({ type: "run", id, operation: operation.name, params: operation.params });
  }

  /** Requests that the worker stops an operation, if it is running it. */
  cancel({ id }: Task): void {
    if (this.#lanes.running().some((task) => task.id === id)) this.#child?.send({ type: "cancel", id });
  }

  /** Makes the worker free all speech models except these. */
  keepModels(paths: readonly string[]): void {
    if (this.#state.name !== "ready") return;
    this.#state.child.send({ type: "keepModels", paths: [...paths] });
    for (const path of this.#modelsUsed) if (!paths.includes(path)) this.#modelsUsed.delete(path);
  }

  /** Starts the first process. Must be called only once. */
  start(): void {
    void this.#startProcess();
  }

  /** Replaces the process by a new one, for which `prepare` is called again, as soon as it is idle. */
  renew(): void {
    this.#mustRenew = true;
    this.#renewIfIdle();
  }

  /** Ends an idle process and frees its models; a process that is starting stays. */
  sleep(): void {
    if (this.#state.name !== "ready" || !this.isIdle) return;
    const { child } = this.#state;
    this.#state = { name: "fallingAsleep", child, isWoken: false };
    this.#options.log.info({ event: "engine.asleep", gpu: this.#start?.gpu?.label });
    child.kill();
  }

  /** Starts a process again after `sleep`. */
  wake(): void {
    if (this.#state.name === "fallingAsleep") this.#state = { ...this.#state, isWoken: true };
    if (this.#state.name !== "asleep") return;
    this.#state = { name: "preparing", reported: "waking", restartTimer: null };
    void this.#startProcess();
  }

  /** Ends the worker; nothing is started or reported after this. @returns the operations that it was running */
  close(): Task[] {
    const child = this.#child;
    if (this.#state.name === "preparing" && this.#state.restartTimer !== null) clearTimeout(this.#state.restartTimer);
    this.#state = { name: "closed", child };
    this.#closing.abort();
    this.#watchdog[Symbol.dispose]();
    child?.kill();
    return this.#lanes.interrupt();
  }

  /** Resolves when the process has exited, after `close`. */
  async closed(): Promise<void> {
    await this.#child?.exited();
  }

  get #child(): WorkerProcess | null {
    return "child" in this.#state ? this.#state.child : null;
  }

  get #speechDevice(): SpeechDevice {
    const speechDevice = this.#state.name === "ready" ? this.#state.speechDevice : "cpu";
    return { speechDevice, gpu: this.#start?.gpu?.label ?? "" };
  }

  /** Whether the worker was closed. A method, because the state may change while a caller waits. */
  #isClosed(): boolean {
    return this.#state.name === "closed";
  }

  /** Prepares and starts a process. The state is `preparing`. */
  async #startProcess(): Promise<void> {
    this.#mustRenew = false;
    try {
      const start = await this.#events.prepare(this.#lastExit, this.#closing.signal);
      if (this.#state.name !== "preparing" || start === null) return;
      this.#lastExit = null;
      this.#start = start;
      this.#lanes.count = start.lanes;
      this.#lanes.sharesLanes = start.gpu !== undefined;
      this.#decoder.restart();
      const { log, timeLimits } = this.#options;
      const child = new WorkerProcess(start, this.#options, {
        onMessage: (message) => this.#receive(message),
        onLogLine: (line) => log.debug({ event: "engine.log", line }),
        onExit: (exit) => this.#exited(exit),
      });
      this.#state = { name: "loading", reported: this.#state.reported, child, killedFor: {} };
      const limitSeconds = timeLimits.ofStart(start);
      this.#watchdog.watch("start", limitSeconds, (seconds) =>
        this.#killStuck(`the models were not loaded after ${Math.floor(seconds)} s`, limitSeconds),
      );
    } catch (error) {
      if (this.#isClosed()) return;
      this.#trouble = messageOf(error);
      this.#startLater();
    }
  }

  #receive(message: FromWorker): void {
    if (this.#isClosed()) return;
    switch (message.type) {
      case "ready":
        this.#becomeReady(message);
        return;
      case "gpuMemory":
        if (this.#state.name === "ready") this.#state = { ...this.#state, gpuMemory: message.memory };
        return;
      case "decoderWork":
        this.#decoder.add(message.work);
        return;
      case "gpuFailed":
        // Neither the GPU nor the process can be trusted. The first failure is the most telling.
        this.#trouble ??= `the GPU failed: ${message.failure.message}`;
        this.#kill((reasons) => ({ gpuFailure: message.failure, ...reasons }));
        return;
      case "unusable":
        this.#trouble = message.message;
        return;
      default:
        this.#receiveAnswer(message);
    }
  }

  #becomeReady({ cpuVariant, devices, speechDevice }: Extract<FromWorker, { type: "ready" }>): void {
    if (this.#state.name !== "loading") return;
    this.#watchdog.release("start");
    const { child, killedFor } = this.#state;
    this.#state = { name: "ready", child, speechDevice, gpuMemory: null, killedFor };
    this.#trouble = null;
    this.#failedStarts = 0;
    const { role, lanes, slots, gpu } = this.#start ?? {};
    const what = { speechDevice, gpu: gpu?.label, gpuName: gpu?.name, cpuVariant, devices };
    this.#options.log.info({ event: "engine.ready", role, lanes, slots, ...what });
    this.#renewIfIdle();
    this.#events.onReady();
  }

  #receiveAnswer(answer: Answer): void {
    this.#watchdog.release(answer.id);
    const task = this.#lanes.finish(answer.id);
    if (answer.type === "done" && task !== null) this.#measure(task);
    this.#events.onAnswer(task, answer);
    this.#renewIfIdle();
  }

  #measure(task: Task): void {
    const seconds = (performance.now() - task.startedAt) / 1000;
    // A cancelled operation may have done only part of its work.
    if (!task.cancelled) this.#options.timeLimits.learn(this.#timed(task), seconds);
    const { name, params } = task.operation;
    if (name === "selfTest") return;
    const work = describeWork(name, params as Params<CountedOperation>, this.#speechDevice);
    this.#options.onCompletion({ ...work, seconds });
  }

  /** Replaces an idle process if that was requested. A loading one is replaced once it is ready. */
  #renewIfIdle(): void {
    if (!this.#mustRenew || this.#state.name !== "ready" || !this.isIdle) return;
    const { child } = this.#state;
    this.#state = { name: "renewing", child };
    child.kill();
  }

  #killStuck(trouble: string, limitSeconds: number): void {
    this.#trouble = trouble;
    this.#options.log.error({ event: "engine.stalled", gpu: this.#start?.gpu?.label, trouble, limitSeconds });
    this.#kill((reasons) => ({ ...reasons, stalled: true }));
  }

  /** Kills a process that has failed. @param add adds the reason to earlier ones */
  #kill(add: (reasons: KillReasons) => KillReasons): void {
    if (this.#state.name !== "loading" && this.#state.name !== "ready") return;
    this.#state = { ...this.#state, killedFor: add(this.#state.killedFor) };
    this.#state.child.kill();
  }

  #exited(how: ProcessExit): void {
    const before = this.#state;
    if (before.name === "closed") return;
    this.#modelsUsed.clear();
    this.#watchdog.releaseAll();
    if (before.name === "fallingAsleep" && !before.isWoken) {
      this.#state = { name: "asleep" };
      return;
    }
    this.#state = { name: "preparing", reported: stateAfter(before), restartTimer: null };
    if (before.name === "loading" || before.name === "ready") this.#reportExit({ ...how, ...before.killedFor });
    // A listener may have closed the engine.
    if (this.#isClosed()) return;
    if (before.name === "loading") this.#startLater();
    else void this.#startProcess();
  }

  #reportExit(how: UnexpectedExit): void {
    const exit = { ...how, running: suspectsById(this.#lanes.running()), ...identityOf(this.#start) };
    this.#lastExit = exit;
    this.#restarts += 1;
    this.#trouble ??= describeExit(exit, this.#options.memoryShortage);
    this.#options.onUnexpectedExit(exit);
    this.#events.onUnexpectedExit(this.#lanes.interrupt(), exit, this.#trouble);
  }

  #startLater(): void {
    this.#failedStarts += 1;
    const failures = this.#failedStarts;
    const delay = this.#options.restartDelayMilliseconds(failures);
    const restartTimer = setTimeout(() => void this.#startProcess(), delay);
    const reported = failures >= FAILURES_UNTIL_FAILING ? "failing" : "starting";
    this.#state = { name: "preparing", reported, restartTimer };
    const [gpu, trouble] = [this.#start?.gpu?.label, this.#trouble];
    this.#options.log.error({ event: "engine.start_failed", gpu, trouble, failures, delay });
  }

  /** Returns an operation with the devices on which its duration depends. */
  #timed({ operation }: Task) {
    const { speechDevice, gpu } = this.#speechDevice;
    return { ...operation, speechDevice: `${speechDevice} ${gpu}` };
  }

  /** Describes an operation that has used at least half of its limit; null when there is none. */
  #lateOperation(): string | null {
    const elapsed = this.#lanes.running().map((task) => ({ task, time: this.#watchdog.elapsed(task.id) }));
    const late = elapsed.find(({ time }) => time !== null && time.seconds >= time.limitSeconds / 2);
    return late === undefined ? null : runningFor(late.task, late.time?.seconds ?? 0);
  }
}

function runningFor({ operation }: Task, seconds: number): string {
  return `the worker has been running one ${operation.name} operation for ${Math.floor(seconds)} s`;
}
