import { messageOf } from "../wording/index.ts";
import type { SpeakerPart } from "./diarization/index.ts";
import type { EngineOptions, OperationsAtWork, WorkerDeath } from "./engine-options.ts";
import type { FromWorker, Gpu, GpuFailure, GpuMemory, Start, ToWorker } from "./protocol.ts";
import type { TimeLimits } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";
import { type WorkerEvents, WorkerProcess } from "./worker-process.ts";

/**
 * `asleep`: there is no worker, since nothing was to do for long; `waking`: it is started again, and nothing says that it
 * could not be.
 */
export type EngineState = "starting" | "ready" | "asleep" | "waking" | "failing" | "closed";

/** How a worker stands. */
export interface WorkerStatus {
  readonly state: EngineState;
  /** Why it is not ready, or that what it does takes far too long. */
  readonly trouble: string | null;
  /** Times that it ended unasked. */
  readonly restarts: number;
  readonly pid: number | null;
  /** The GPU that it is for; null: it computes on the CPU, or has not begun to. */
  readonly gpu: Gpu | null;
  /** Of that GPU, as the worker told it; null while there is no worker. */
  readonly gpuMemory: GpuMemory | null;
}

/** What the worker says of an operation it was given. */
export type Answer = Extract<FromWorker, { type: "done" | "failed" }>;

/** Whoever gives the worker its work. */
export interface WorkerUser {
  /** A worker is started, and what it is told. */
  onStart(start: Start): void;
  /** A worker takes work from now on. */
  onReady(): void;
  onAnswer(answer: Answer): void;
  /** Whether the worker is at nothing, so that another may take its place. */
  isIdle(): boolean;
  /** What the worker would have ended of, should it end now. */
  atWork(): OperationsAtWork;
  /** The worker has gone, and what it had loaded. */
  onGone(): void;
  /** It went unasked; what it was at is not done. @param trouble why, in words */
  onDeath(how: WorkerDeath, trouble: string): void;
}

/** What a worker is started with. */
export interface WorkerLifeOptions
  extends Pick<EngineOptions, "command" | "log" | "restartDelayMilliseconds" | "endingMilliseconds" | "onWorkerDeath"> {
  /** As the engine's, for this one alone; null: it is not needed any more, and was closed. */
  readonly prepare: (death: WorkerDeath | null, signal: AbortSignal) => Promise<Start | null>;
}

/** Starts that fail in a row before it is said that there is no worker to be had. */
const failuresUntilFailing = 3;

/** Keeps a worker there: starts it, and another after it when it dies, does not come up, or shall make room for another. */
export class WorkerLife {
  readonly #options: WorkerLifeOptions;
  readonly #limits: TimeLimits;
  readonly #user: WorkerUser;
  #worker: WorkerProcess | null = null;
  #state: EngineState = "starting";
  #trouble: string | null = null;
  /** What the next start is told; null once it was. */
  #lastDeath: WorkerDeath | null = null;
  /** Why the worker is being ended, where that is the reason. */
  #ending: Pick<WorkerDeath, "gpuFailure" | "stalled"> = {};
  /** What it is for; undefined: for no GPU, or that is not known. */
  #gpu: Gpu | undefined;
  #gpuMemory: GpuMemory | null = null;
  #speechDevice = "cpu";
  #speakersOnGpu: readonly SpeakerPart[] = [];
  #failures = 0;
  #restarts = 0;
  /** The worker shall make room for another as soon as it is idle. */
  #renewal = false;
  /** The worker there is was ended because nothing was to do. */
  #dismissed = false;
  /** Of the next start. */
  #restart: NodeJS.Timeout | null = null;
  /** Of the start, which a driver can hang in. */
  readonly #watchdog: Watchdog<"start">;
  readonly #closing = new AbortController();

  constructor(options: WorkerLifeOptions, limits: TimeLimits, lookMilliseconds: number, user: WorkerUser) {
    this.#options = options;
    this.#limits = limits;
    this.#user = user;
    this.#watchdog = new Watchdog(lookMilliseconds);
  }

  /** Starts the first; to be called once. */
  start(): void {
    void this.#start();
  }

  status(): WorkerStatus {
    const { pid } = this.#worker ?? { pid: null };
    const [state, trouble, restarts, gpuMemory] = [this.#state, this.#trouble, this.#restarts, this.#gpuMemory];
    return { state, trouble, restarts, pid, gpu: this.#gpu ?? null, gpuMemory };
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  get takesWork(): boolean {
    return this.#state === "ready" && !this.#renewal;
  }

  /** The GPU that it is for; undefined: it is for none. */
  get gpu(): Gpu | undefined {
    return this.#gpu;
  }

  /** What whisper computes on. */
  get speechDevice(): string {
    return this.#speechDevice;
  }

  /** The models that tell speakers apart, as far as a GPU computes them. */
  get speakersOnGpu(): readonly SpeakerPart[] {
    return this.#speakersOnGpu;
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
    this.#options.log.info({ event: "engine.asleep", gpu: this.#gpu?.label });
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
    this.#options.log.error({ event: "engine.stalled", gpu: this.#gpu?.label, trouble, limitSeconds });
    this.#worker?.kill();
  }

  /** Nothing is started nor told any more. */
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
      if (this.isClosed || start === null) return;
      this.#lastDeath = null;
      this.#ending = {};
      this.#gpu = start.gpu;
      this.#speakersOnGpu = start.speakersOnGpu ?? [];
      this.#user.onStart(start);
      const { command, log, endingMilliseconds } = this.#options;
      const events: WorkerEvents = {
        onMessage: (message) => this.#receive(message),
        onLogLine: (line) => log.debug({ event: "engine.log", line }),
        onExit: (how) => {
          const gpu = start.gpu === undefined ? {} : { gpu: start.gpu.label };
          this.#ended({ ...how, ...this.#ending, at: this.#user.atWork(), ...gpu });
        },
      };
      this.#worker = new WorkerProcess(command, start, events, endingMilliseconds);
      const limit = this.#limits.ofStart(start);
      this.#watchdog.watch("start", limit, (seconds) =>
        this.endStuck(`the models were not loaded after ${Math.floor(seconds)} s`, limit),
      );
    } catch (error) {
      if (this.isClosed) return;
      this.#trouble = messageOf(error);
      this.#startLater();
    }
  }

  #receive(message: FromWorker): void {
    if (this.isClosed) return;
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
    const { label: gpu, name: gpuName } = this.#gpu ?? {};
    const computesOn = { cpuVariant, devices, speechDevice, speakersOnGpu: this.#speakersOnGpu };
    this.#options.log.info({ event: "engine.ready", gpu, gpuName, ...computesOn });
    this.renewIfIdle();
    this.#user.onReady();
  }

  /** What failed there can't be trusted to compute or to end. The first failure tells most. */
  #endForGpu(failure: GpuFailure): void {
    this.#ending = { gpuFailure: failure, ...this.#ending };
    this.#trouble ??= `the GPU failed: ${failure.message}`;
    this.#worker?.kill();
  }

  #isReplaceable(): boolean {
    return this.#renewal && this.#state === "ready" && this.#user.isIdle();
  }

  #ended(how: WorkerDeath): void {
    if (this.isClosed) return;
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
    const [gpu, trouble, failures] = [this.#gpu?.label, this.#trouble, this.#failures];
    this.#options.log.error({ event: "engine.start_failed", gpu, trouble, failures, delay });
    this.#restart = setTimeout(() => void this.#start(), delay);
  }
}

function defaultRestartDelay(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1));
}
