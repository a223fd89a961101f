import { messageOf } from "../text/index.ts";
import type { WorkerDevices } from "./completed-operation.ts";
import type { RunningOperations, UnexpectedExit, WorkerOptions } from "./engine-options.ts";
import type { FromWorker, Gpu, GpuFailure, GpuMemory, Start, ToWorker } from "./protocol.ts";
import { Watchdog } from "./watchdog.ts";
import { type WorkerEvents, WorkerProcess } from "./worker-process.ts";

/**
 * State of a worker. `asleep`: there is no process, because the engine was idle for long. `waking`: the process is
 * being started again, and no failure is expected.
 */
export type EngineState = "starting" | "ready" | "asleep" | "waking" | "failing" | "closed";

/** The status of a worker. */
export interface WorkerStatus {
  readonly state: EngineState;
  /** Why the worker is not ready, or which operation takes far too long. */
  readonly trouble: string | null;
  /** Number of exits that nobody asked for. */
  readonly restarts: number;
  readonly pid: number | null;
  /** The worker's GPU; null when it has none or has not been started yet. */
  readonly gpu: Gpu | null;
  /** The GPU's memory as the worker reported it last; null when there is no worker. */
  readonly gpuMemory: GpuMemory | null;
}

/** The worker's answer to an operation. */
export type Answer = Extract<FromWorker, { type: "done" | "failed" }>;

/** The owner of the worker, which gives it its operations. */
export interface WorkerUser {
  /** Called when a worker is started, with the message that it receives. */
  onStart(start: Start): void;
  /** Called when the worker starts to accept operations. */
  onReady(): void;
  onAnswer(answer: Answer): void;
  /** Returns whether the worker runs nothing, so that another can replace it. */
  isIdle(): boolean;
  /** Returns the operations to blame if the worker exits now. */
  atWork(): RunningOperations;
  /** Called when the worker has exited and its loaded models are gone. */
  onGone(): void;
  /**
   * Called when the worker exited without being told to; its operations are not done.
   * @param trouble the reason, for people
   */
  onDeath(how: UnexpectedExit, trouble: string): void;
}

/** The engine's `prepare` for one worker. @returns null when the worker is no longer needed and was closed */
export type PrepareOne = (death: UnexpectedExit | null, signal: AbortSignal) => Promise<Start | null>;

export type WorkerLifeOptions = Omit<WorkerOptions, "prepare"> & { readonly prepare: PrepareOne };

/** Number of consecutive failed starts before the state becomes `failing`. */
const failuresUntilFailing = 3;

/** Keeps one worker running: starts it, and starts another when it crashes, fails to start or is to be replaced. */
export class WorkerLife {
  readonly #options: WorkerLifeOptions;
  readonly #user: WorkerUser;
  #worker: WorkerProcess | null = null;
  #state: EngineState = "starting";
  #trouble: string | null = null;
  /** Passed to `prepare` before the next start; null once that start has begun. */
  #lastDeath: UnexpectedExit | null = null;
  /** Why the worker is being killed, where its GPU failed or it was stuck. */
  #ending: Pick<UnexpectedExit, "gpuFailure" | "stalled"> = {};
  /** The start message of the latest worker; null before the first start. */
  #told: Start | null = null;
  #gpuMemory: GpuMemory | null = null;
  #speechDevice = "cpu";
  #failures = 0;
  #restarts = 0;
  /** Whether the worker is to be replaced as soon as it is idle. */
  #renewal = false;
  /** Whether the worker is being killed because the engine was idle. */
  #dismissed = false;
  /** Timer of the next start. */
  #restart: NodeJS.Timeout | null = null;
  /** Watches the start, in which a driver may hang. */
  readonly #watchdog: Watchdog<"start">;
  readonly #closing = new AbortController();

  constructor(options: WorkerLifeOptions, user: WorkerUser) {
    this.#options = options;
    this.#user = user;
    this.#watchdog = new Watchdog(options.checkMilliseconds);
  }

  /** Starts the first worker; must be called only once. */
  start(): void {
    void this.#start();
  }

  status(): WorkerStatus {
    const { pid } = this.#worker ?? { pid: null };
    const [state, trouble, restarts, gpuMemory] = [this.#state, this.#trouble, this.#restarts, this.#gpuMemory];
    return { state, trouble, restarts, pid, gpu: this.#told?.gpu ?? null, gpuMemory };
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  get takesWork(): boolean {
    return this.#state === "ready" && !this.#renewal;
  }

  get devices(): WorkerDevices {
    const { gpu, speakersOnGpu = [] } = this.#told ?? {};
    return { speechDevice: this.#speechDevice, gpu: gpu?.label ?? "", speakersOnGpu };
  }

  send(message: ToWorker): void {
    this.#worker?.send(message);
  }

  /** Replaces the worker by a new one as soon as it is idle. */
  renew(): void {
    this.#renewal = true;
    this.renewIfIdle();
  }

  /**
   * Replaces an idle worker if that was requested. A starting worker has already been told what to load, so it is
   * replaced once ready.
   */
  renewIfIdle(): void {
    if (this.#isReplaceable()) this.#worker?.kill();
  }

  /** Ends an idle worker and frees its models; a worker that is starting stays. */
  sleep(): void {
    if (this.#state !== "ready" || !this.#user.isIdle()) return;
    this.#state = "asleep";
    this.#dismissed = true;
    this.#options.log.info({ event: "engine.asleep", gpu: this.#told?.gpu?.label });
    this.#worker?.kill();
  }

  /** Starts a worker again after `sleep`. */
  wake(): void {
    if (this.#state !== "asleep") return;
    this.#state = "waking";
    // When the old process has not exited yet, its exit starts the next one.
    if (this.#worker === null) void this.#start();
  }

  /** Kills a worker that is stuck. */
  endStuck(trouble: string, limitSeconds: number): void {
    this.#trouble = trouble;
    this.#ending = { stalled: true };
    this.#options.log.error({ event: "engine.stalled", gpu: this.#told?.gpu?.label, trouble, limitSeconds });
    this.#worker?.kill();
  }

  /** Ends the worker; nothing is started or reported after this. */
  close(): void {
    this.#state = "closed";
    this.#closing.abort();
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#watchdog[Symbol.dispose]();
    this.#worker?.kill();
  }

  /** Resolves when the worker has exited, after `close`. */
  async ended(): Promise<void> {
    await this.#worker?.ended();
  }

  async #start(): Promise<void> {
    this.#renewal = false;
    try {
      const start = await this.#options.prepare(this.#lastDeath, this.#closing.signal);
      if (this.#isClosed || start === null) return;
      this.#lastDeath = null;
      this.#ending = {};
      this.#told = start;
      this.#user.onStart(start);
      const { command, log, killMilliseconds, timeLimits } = this.#options;
      const events: WorkerEvents = {
        onMessage: (message) => this.#receive(message),
        onLogLine: (line) => log.debug({ event: "engine.log", line }),
        onExit: (how) => {
          const gpu = start.gpu === undefined ? {} : { gpu: start.gpu.label };
          this.#ended({ ...how, ...this.#ending, running: this.#user.atWork(), ...gpu });
        },
      };
      this.#worker = new WorkerProcess(command, start, events, killMilliseconds);
      const limit = timeLimits.ofStart(start);
      this.#watchdog.watch("start", limit, (seconds) =>
        this.endStuck(`the models were not loaded after ${Math.floor(seconds)} s`, limit),
      );
    } catch (error) {
      if (this.#isClosed) return;
      this.#trouble = messageOf(error);
      this.#startLater();
    }
  }

  #receive(message: FromWorker): void {
    if (this.#isClosed) return;
    switch (message.type) {
      case "ready":
        this.#becomeReady(message);
        return;
      case "gpuMemory":
        this.#gpuMemory = message.memory;
        return;
      case "gpuFailed":
        this.#endForGpu(message.failure);
        return;
      case "unusable":
        this.#trouble = message.message;
        return;
      default:
        this.#user.onAnswer(message);
    }
  }

  #becomeReady({ cpuVariant, devices, speechDevice }: Extract<FromWorker, { type: "ready" }>): void {
    this.#watchdog.release("start");
    this.#state = "ready";
    this.#trouble = null;
    this.#failures = 0;
    this.#speechDevice = speechDevice;
    const { label: gpu, name: gpuName } = this.#told?.gpu ?? {};
    const computesOn = { cpuVariant, devices, speechDevice, speakersOnGpu: this.devices.speakersOnGpu };
    this.#options.log.info({ event: "engine.ready", gpu, gpuName, ...computesOn });
    this.renewIfIdle();
    this.#user.onReady();
  }

  /**
   * Kills the worker after a GPU failure: neither the GPU nor the process can be trusted. The first failure is the most
   * telling.
   */
  #endForGpu(failure: GpuFailure): void {
    this.#ending = { gpuFailure: failure, ...this.#ending };
    this.#trouble ??= `the GPU failed: ${failure.message}`;
    this.#worker?.kill();
  }

  #isReplaceable(): boolean {
    return this.#renewal && this.#state === "ready" && this.#user.isIdle();
  }

  #ended(how: UnexpectedExit): void {
    if (this.#isClosed) return;
    const wasDismissed = this.#dismissed;
    const wasAsked = this.#isReplaceable() || wasDismissed;
    const wasReady = this.#state === "ready";
    this.#dismissed = false;
    this.#gpuMemory = null;
    this.#worker = null;
    if (wasReady) this.#state = "starting";
    this.#watchdog.releaseAll();
    this.#user.onGone();
    if (!wasAsked) {
      this.#lastDeath = how;
      this.#options.onUnexpectedExit?.(how);
      this.#restarts += 1;
      this.#trouble ??= `the worker ended with ${how.signal ?? `exit code ${how.exitCode}`}`;
      this.#user.onDeath(how, this.#trouble);
    }
    if (this.#state === "asleep") return;
    if (wasReady || wasDismissed) void this.#start();
    else this.#startLater();
  }

  #startLater(): void {
    this.#failures += 1;
    this.#state = this.#failures >= failuresUntilFailing ? "failing" : "starting";
    const delay = (this.#options.restartDelayMilliseconds ?? defaultRestartDelay)(this.#failures);
    const [gpu, trouble, failures] = [this.#told?.gpu?.label, this.#trouble, this.#failures];
    this.#options.log.error({ event: "engine.start_failed", gpu, trouble, failures, delay });
    this.#restart = setTimeout(() => void this.#start(), delay);
  }
}

function defaultRestartDelay(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1));
}
