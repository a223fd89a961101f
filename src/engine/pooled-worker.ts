import type { SpeakerPart } from "./diarization/index.ts";
import type { EngineOptions, OperationsAtWork, WorkerDeath } from "./engine-options.ts";
import { Lanes } from "./lanes.ts";
import { OperationTimes } from "./operation-times.ts";
import type { Start } from "./protocol.ts";
import type { Task } from "./task.ts";
import { modelOf, type TimeLimits } from "./time-limits.ts";
import { type Answer, WorkerLife, type WorkerStatus } from "./worker-life.ts";

/** Whoever hands out the work. */
export interface WorkerPoolUser {
  /** A worker takes work from now on. */
  onReady(): void;
  /**
   * A worker has come to an end with something, and can take more.
   * @param task what it was; null where nobody waits for it
   * @param seconds that it took; null where it was not done
   */
  onAnswer(task: Task | null, answer: Answer, worker: PooledWorker, seconds: number | null): void;
  /** A worker ended unasked. @param interrupted what it was at */
  onDeath(interrupted: Task[], how: WorkerDeath, trouble: string): void;
}

export interface PooledWorkerOptions {
  readonly engine: EngineOptions;
  readonly limits: TimeLimits;
  readonly lookMilliseconds: number;
  readonly user: WorkerPoolUser;
  /** What it shall load, asked before each start; null: it is not needed any more, and ends. */
  readonly prepare: (death: WorkerDeath | null, signal: AbortSignal) => Promise<Start | null>;
}

/** A worker of the engine's, and what it is at. One that comes to no end with that is ended. */
export class PooledWorker {
  readonly #lanes: Lanes;
  readonly #times: OperationTimes;
  readonly #life: WorkerLife;

  constructor({ engine, limits, lookMilliseconds, user, prepare }: PooledWorkerOptions) {
    this.#lanes = new Lanes(engine.lanes);
    this.#times = new OperationTimes(limits, lookMilliseconds);
    this.#life = new WorkerLife({ ...engine, prepare }, limits, lookMilliseconds, {
      onStart: ({ lanes = engine.lanes }) => this.#lanes.setCount(lanes),
      onReady: () => user.onReady(),
      onAnswer: (answer) => {
        this.#times.ended(answer.id);
        const task = this.#lanes.end(answer.id);
        const seconds = answer.type === "done" && task !== null ? this.#times.done(task, this.#device) : null;
        user.onAnswer(task, answer, this, seconds);
        this.#life.renewIfIdle();
      },
      isIdle: () => this.#lanes.nothingRuns,
      atWork: () => atWork(this.#lanes.running()),
      onGone: () => this.#times.workerGone(),
      onDeath: (how, trouble) => user.onDeath(this.#lanes.interrupt(), how, trouble),
    });
  }

  /** Starts it; to be called once. */
  start(): void {
    this.#life.start();
  }

  status(): WorkerStatus {
    const { trouble, ...life } = this.#life.status();
    return { ...life, trouble: trouble ?? this.#times.late(this.#lanes.running()) };
  }

  /** `cpu`, or the backend of the GPU that whisper computes on, in lower case. */
  get speechDevice(): string {
    return this.#life.speechDevice;
  }

  /** The label of the GPU that whisper computes on; empty: it computes on none. */
  get gpu(): string {
    return this.#life.gpu?.label ?? "";
  }

  /** The models that tell speakers apart, as far as a GPU computes them. */
  get speakersOnGpu(): readonly SpeakerPart[] {
    return this.#life.speakersOnGpu;
  }

  /** What times are learnt for. */
  get #device(): string {
    return `${this.speechDevice} ${this.gpu}`;
  }

  get nothingRuns(): boolean {
    return this.#lanes.nothingRuns;
  }

  get takesWork(): boolean {
    return this.#life.takesWork;
  }

  /** Whether it may be given this now. */
  takes(task: Task): boolean {
    return this.takesWork && this.#lanes.takes(task);
  }

  /** How many operations it is given at once. */
  get lanes(): number {
    return this.#lanes.count;
  }

  /** How many more operations it may be given. */
  get room(): number {
    return this.#lanes.room;
  }

  begin(task: Task): void {
    const { id, operation } = task;
    this.#lanes.begin(task);
    this.#times.begins(task, this.#device, (trouble, limitSeconds) => {
      task.stalled = true;
      this.#life.endStuck(trouble, limitSeconds);
    });
    this.#life.send({ type: "run", id, operation: operation.name, params: operation.params });
  }

  /** Has it stop an operation. Does nothing where it is at no such. */
  cancel({ id }: Task): void {
    if (this.#lanes.running().some((task) => task.id === id)) this.#life.send({ type: "cancel", id });
  }

  /** Has it let go of whisper models other than these. */
  keepModels(paths: readonly string[]): void {
    if (this.#life.status().state !== "ready") return;
    this.#life.send({ type: "keepModels", paths: [...paths] });
    this.#times.keepModels(paths);
  }

  /** Has another take its place, which asks anew what to load, as soon as it is at nothing. */
  renew(): void {
    this.#life.renew();
  }

  sleep(): void {
    this.#life.sleep();
  }

  wake(): void {
    this.#life.wake();
  }

  /** Ends it. @returns what it was at */
  close(): Task[] {
    this.#life.close();
    this.#times[Symbol.dispose]();
    return this.#lanes.interrupt();
  }

  /** Settles when its process is gone, after `close`. */
  ended(): Promise<void> {
    return this.#life.ended();
  }
}

/** Where it comes to no end with some, the others are nothing that it ends of. */
function atWork(running: readonly Task[]): OperationsAtWork {
  const stalled = running.filter((task) => task.stalled);
  const tasks = stalled.length > 0 ? stalled : running;
  const isSpeech = ({ operation }: Task) => modelOf(operation) !== null;
  return {
    speech: tasks.filter(isSpeech).map(({ id }) => id),
    others: tasks.filter((task) => !isSpeech(task)).map(({ id }) => id),
  };
}
