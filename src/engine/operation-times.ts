import type { Task } from "./task.ts";
import { modelOf, type TimeLimits } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";

/** Watches that the worker comes to an end with each operation, and learns how long operations take. */
export class OperationTimes implements Disposable {
  readonly #limits: TimeLimits;
  /** By the operation's id. */
  readonly #watchdog: Watchdog<number>;
  /** Whisper models that this worker has worked with, and need not be loaded. */
  readonly #modelsUsed = new Set<string>();

  /** @param lookMilliseconds how often to look */
  constructor(limits: TimeLimits, lookMilliseconds: number) {
    this.#limits = limits;
    this.#watchdog = new Watchdog(lookMilliseconds);
  }

  /** The worker is given an operation. @param onOverdue called once, when it takes longer than it may */
  begins(task: Task, speechDevice: string, onOverdue: (trouble: string, limitSeconds: number) => void): void {
    const { id, operation, deaths } = task;
    task.startedAt = performance.now();
    const model = modelOf(operation);
    const isFirst = model !== null && !this.#modelsUsed.has(model);
    if (model !== null) this.#modelsUsed.add(model);
    // One that was ended too soon gets more time with each try.
    const limitSeconds = this.#limits.of({ ...operation, speechDevice }, isFirst) * 2 ** deaths;
    this.#watchdog.watch(id, limitSeconds, (seconds) =>
      onOverdue(`the worker was at one ${operation.name} for ${Math.floor(seconds)} s`, limitSeconds),
    );
  }

  /** It is over, whatever came of it. */
  ended(id: number): void {
    this.#watchdog.release(id);
  }

  /** Takes note of one that was done. @returns the seconds it took */
  done({ operation, startedAt, abandoned }: Task, speechDevice: string): number {
    const seconds = (performance.now() - startedAt) / 1000;
    // What was told to stop may have done half of it.
    if (!abandoned) this.#limits.learn({ ...operation, speechDevice }, seconds);
    return seconds;
  }

  /** The operation that has taken more than half of its time, in words. @param running what the worker is working on */
  late(running: readonly Task[]): string | null {
    for (const { id, operation } of running) {
      const standing = this.#watchdog.standing(id);
      if (standing === null || standing.seconds < standing.limitSeconds / 2) continue;
      return `the worker has been at one ${operation.name} for ${Math.floor(standing.seconds)} s`;
    }
    return null;
  }

  /** The worker lets go of whisper models other than these. */
  keepModels(paths: readonly string[]): void {
    for (const path of this.#modelsUsed) if (!paths.includes(path)) this.#modelsUsed.delete(path);
  }

  /** The worker is gone, with all it was at and had loaded. */
  workerGone(): void {
    this.#watchdog.releaseAll();
    this.#modelsUsed.clear();
  }

  [Symbol.dispose](): void {
    this.#watchdog[Symbol.dispose]();
  }
}
