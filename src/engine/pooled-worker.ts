import type { WorkerDevices } from "./completed-operation.ts";
import type { RunningOperations, UnexpectedExit } from "./engine-options.ts";
import { Lanes } from "./lanes.ts";
import { OperationTimes } from "./operation-times.ts";
import type { Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";
import { type Answer, WorkerLife, type WorkerLifeOptions, type WorkerStatus } from "./worker-life.ts";

/** The owner of the workers, which assigns the operations. */
export interface WorkerPoolUser {
  /** Called when a worker starts to accept operations. */
  onReady(): void;
  /**
   * Called when a worker has finished an operation and can take another.
   * @param task the operation; null when it is no longer known
   * @param seconds its duration; null when it did not complete
   */
  onAnswer(task: Task | null, answer: Answer, worker: PooledWorker, seconds: number | null): void;
  /** Called when a worker exited without being told to. @param interrupted the operations that it was running */
  onDeath(interrupted: Task[], how: UnexpectedExit, trouble: string): void;
}

/** One of the engine's workers and the operations that it is running. It is killed when one of them is stuck. */
export class PooledWorker {
  /** The count comes from the worker's `Start`. */
  readonly #lanes = new Lanes(1);
  readonly #times: OperationTimes;
  readonly #life: WorkerLife;

  constructor(options: WorkerLifeOptions, user: WorkerPoolUser) {
    this.#times = new OperationTimes(options.timeLimits, options.checkMilliseconds);
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

  /** Starts the worker; must be called only once. */
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

  /** The devices on which the duration of an operation depends. */
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

  /** Returns whether the worker can start this operation now. */
  takes(task: Task): boolean {
    return this.takesWork && this.#lanes.takes(task);
  }

  /** Number of operations that the worker runs at the same time. */
  get lanes(): number {
    return this.#lanes.count;
  }

  /** Number of further operations that the worker can take. */
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

  /** Tells the worker to stop an operation, if it is running that one. */
  cancel({ id }: Task): void {
    if (this.#lanes.running().some((task) => task.id === id)) this.#life.send({ type: "cancel", id });
  }

  /** Tells the worker to free all speech models except these. */
  keepModels(paths: readonly string[]): void {
    if (this.#life.status().state !== "ready") return;
    this.#life.send({ type: "keepModels", paths: [...paths] });
    this.#times.keepModels(paths);
  }

  /** Replaces the worker, as soon as it is idle, by a new one that calls `prepare` again. */
  renew(): void {
    this.#life.renew();
  }

  sleep(): void {
    this.#life.sleep();
  }

  wake(): void {
    this.#life.wake();
  }

  /** Ends the worker. @returns the operations that it was running */
  close(): Task[] {
    this.#life.close();
    this.#times[Symbol.dispose]();
    return this.#lanes.interrupt();
  }

  /** Resolves when the process has exited, after `close`. */
  ended(): Promise<void> {
    return this.#life.ended();
  }
}

/** Returns the operations to blame if the worker exits now: the stuck ones where there are any, otherwise all. */
function atWork(running: readonly Task[]): RunningOperations {
  const stalled = running.filter((task) => task.stalled);
  const tasks = stalled.length > 0 ? stalled : running;
  const isSpeech = ({ operation }: Task) => modelOf(operation) !== null;
  return {
    speech: tasks.filter(isSpeech).map(({ id }) => id),
    others: tasks.filter((task) => !isSpeech(task)).map(({ id }) => id),
  };
}
