import { messageOf } from "../text/index.ts";
import type { OperationsAtWork, WorkerDeath, WorkerOptions } from "./engine-options.ts";
import type { FromWorker, Gpu, GpuFailure, GpuMemory, Start, ToWorker } from "./protocol.ts";
import { Watchdog } from "./watchdog.ts";
import type { WorkerDevices } from "./work-done.ts";
import { type WorkerEvents, WorkerProcess } from "./worker-process.ts";

/**
 * `asleep`: there is no worker, since there was nothing to do for long; `waking`: it is being started again, and there is no
 * reason to think that this will fail.
 */
export type EngineState = "starting" | "ready" | "asleep" | "waking" | "failing" | "closed";

/** How a worker stands. */
export interface WorkerStatus {
  readonly state: EngineState;
  /** Why it is not ready, or which operation takes far too long. */
  readonly trouble: string | null;
  /** How often it ended unasked. */
  readonly restarts: number;
  readonly pid: number | null;
  /** The GPU that it is for; null: it is for none, or was not started yet. */
  readonly gpu: Gpu | null;
  /** The GPU's memory as the worker last told it; null while there is no worker. */
  readonly gpuMemory: GpuMemory | null;
}

/** What the worker says of an operation it was given. */
export type Answer = Extract<FromWorker, { type: "done" | "failed" }>;

/** Whoever gives the worker its work. */
export interface WorkerUser {
  /** A worker is being started and told this. */
  onStart(start: Start): void;
  /** A worker takes work from now on. */
  onReady(): void;
  onAnswer(answer: Answer): void;
  /** Whether the worker has nothing to do, so that another may take its place. */
  isIdle(): boolean;
  /** The operations that may be to blame, should the worker end now. */
  atWork(): OperationsAtWork;
  /** The worker has gone, and with it what it had loaded. */
  onGone(): void;
  /** It went unasked; what it was working on is not done. @param trouble why, in words */
  onDeath(how: WorkerDeath, trouble: string): void;
}

/** The engine's `prepare` for one worker. @returns null where it is not needed any more, and was closed */
export type PrepareOne = (death: WorkerDeath | null, signal: AbortSignal) => Promise<Start | null>;

export type WorkerLifeOptions = Omit<WorkerOptions, "prepare"> & { readonly prepare: PrepareOne };

/** Starts that fail in a row before it is said that there is no worker to be had. */
const failuresUntilFailing = 3;

/** Sees to it that there is a worker: starts one, and another when it dies, does not come up, or is to be replaced. */
export class WorkerLife {
  readonly #options: WorkerLifeOptions;
  readonly #user: WorkerUser;
  #worker: WorkerProcess | null = null;
  #state: EngineState = "starting";
  #trouble: string | null = null;
  /** What `prepare` is told before the next start; null once it was. */
  #lastDeath: WorkerDeath | null = null;
  /** Why the worker is being ended, where the GPU failed or it came to no end. */
  #ending: Pick<WorkerDeath, "gpuFailure" | "stalled"> = {};
  /** What the latest worker was told to load; null before the first. */
  #told: Start | null = null;
  #gpuMemory: GpuMemory | null = null;
  #speechDevice = "cpu";
  #failures = 0;
  #restarts = 0;
  /** The worker shall make room for another as soon as it is idle. */
  #renewal = false;
  /** The worker is being ended because there was nothing to do. */
  #dismissed = false;
  /** Until the next start. */
  #restart: NodeJS.Timeout | null = null;
  /** Watches over the start, in which a driver may hang. */
  readonly #watchdog: Watchdog<"start">;
  readonly #closing = new AbortController();

  constructor(options: WorkerLifeOptions, user: WorkerUser) {
    this.#options = options;
    this.#user = user;
    this.#watchdog = new Watchdog(options.lookMilliseconds);
  }

  /** Starts the first; to be called once. */
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

  /** Another worker shall take this one's place, once it is idle. */
  renew(): void {
    this.#renewal = true;
    this.renewIfIdle();
  }

  /** To be called when the worker has become idle. One that is starting has asked what to load already: it goes once it is ready. */
  renewIfIdle(): void {
    if (this.#isReplaceable()) this.#worker?.kill();
  }

  /** Ends a worker that has nothing to do, with the models that it holds; one that is starting stays. */
  sleep(): void {
    if (this.#state !== "ready" || !this.#user.isIdle()) return;
    this.#state = "asleep";
    this.#dismissed = true;
    this.#options.log.info({ event: "engine.asleep", gpu: this.#told?.gpu?.label });
    this.#worker?.kill();
  }

  /** Starts a worker again that was put to sleep. */
  wake(): void {
    if (this.#state !== "asleep") return;
    this.#state = "waking";
    // One that is still on its way out is followed by the next.
    if (this.#worker === null) void this.#start();
  }

  /** Ends a worker that comes to no end. */
  endStuck(trouble: string, limitSeconds: number): void {
    this.#trouble = trouble;
    this.#ending = { stalled: true };
    this.#options.log.error({ event: "engine.stalled", gpu: this.#told?.gpu?.label, trouble, limitSeconds });
    this.#worker?.kill();
  }

  /** Ends the worker; from now on nothing is started or reported any more. */
  close(): void {
    this.#state = "closed";
    this.#closing.abort();
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#watchdog[Symbol.dispose]();
    this.#worker?.kill();
  }

  /** Settles when the worker is gone, after `close`. */
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
      const { command, log, endingMilliseconds, timeLimits } = this.#options;
      const events: WorkerEvents = {
        onMessage: (message) => this.#receive(message),
        onLogLine: (line) => log.debug({ event: "engine.log", line }),
        onExit: (how) => {
          const gpu = start.gpu === undefined ? {} : { gpu: start.gpu.label };
          this.#ended({ ...how, ...this.#ending, at: this.#user.atWork(), ...gpu });
        },
      };
      this.#worker = new WorkerProcess(command, start, events, endingMilliseconds);
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

  /** A GPU that failed can't be trusted to compute on, nor can its process be trusted to end. The first failure tells most. */
  #endForGpu(failure: GpuFailure): void {
    this.#ending = { gpuFailure: failure, ...this.#ending };
    this.#trouble ??= `the GPU failed: ${failure.message}`;
    this.#worker?.kill();
  }

  #isReplaceable(): boolean {
    return this.#renewal && this.#state === "ready" && this.#user.isIdle();
  }

  #ended(how: WorkerDeath): void {
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
      this.#options.onWorkerDeath?.(how);
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
