import type { OperationsAtWork, WorkerDeath } from "./engine-options.ts";
import { Lanes } from "./lanes.ts";
import { OperationTimes } from "./operation-times.ts";
import type { Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";
import type { WorkerDevices } from "./work-done.ts";
import { type Answer, WorkerLife, type WorkerLifeOptions, type WorkerStatus } from "./worker-life.ts";

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

/** One of the engine's workers, and the operations that it is working on. It is ended when one of them comes to no end. */
export class PooledWorker {
  /** As many as its start says. */
  readonly #lanes = new Lanes(1);
  readonly #times: OperationTimes;
  readonly #life: WorkerLife;

  constructor(options: WorkerLifeOptions, user: WorkerPoolUser) {
    this.#times = new OperationTimes(options.timeLimits, options.lookMilliseconds);
    this.#life = new WorkerLife(options, {
      onStart: ({ lanes }) => {
        this.#lanes.count = lanes;
      },
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

  get devices(): WorkerDevices {
    return this.#life.devices;
  }

  /** What the times that operations take depend on. */
  get #device(): string {
    const { speechDevice, gpu } = this.devices;
    return `${speechDevice} ${gpu}`;
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

  /** Tells it to stop an operation, if it is working on that. */
  cancel({ id }: Task): void {
    if (this.#lanes.running().some((task) => task.id === id)) this.#life.send({ type: "cancel", id });
  }

  /** Tells it to free whisper models other than these. */
  keepModels(paths: readonly string[]): void {
    if (this.#life.status().state !== "ready") return;
    this.#life.send({ type: "keepModels", paths: [...paths] });
    this.#times.keepModels(paths);
  }

  /** Replaces it, as soon as nothing runs, by another that asks anew what to load. */
  renew(): void {
    this.#life.renew();
  }

  sleep(): void {
    this.#life.sleep();
  }

  wake(): void {
    this.#life.wake();
  }

  /** Ends it. @returns what it was working on */
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

/** The operations that the worker would have ended of, should it end now: those that come to no end, where there are some. */
function atWork(running: readonly Task[]): OperationsAtWork {
  const stalled = running.filter((task) => task.stalled);
  const tasks = stalled.length > 0 ? stalled : running;
  const isSpeech = ({ operation }: Task) => modelOf(operation) !== null;
  return {
    speech: tasks.filter(isSpeech).map(({ id }) => id),
    others: tasks.filter((task) => !isSpeech(task)).map(({ id }) => id),
  };
}
