import type { Task } from "./task.ts";
import { modelOf, type TimeLimits } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";

/** Detects operations that are stuck in a worker, and learns how long operations take. */
export class OperationTimes implements Disposable {
  readonly #limits: TimeLimits;
  /** Keys are operation ids. */
  readonly #watchdog: Watchdog<number>;
  /** Speech models that this worker has used, so that they need no loading time. */
  readonly #modelsUsed = new Set<string>();

  /** @param checkMilliseconds interval of the checks */
  constructor(limits: TimeLimits, checkMilliseconds: number) {
    this.#limits = limits;
    this.#watchdog = new Watchdog(checkMilliseconds);
  }

  /** Records the start of an operation. @param onOverdue called once, when the operation exceeds its limit */
  begins(task: Task, speechDevice: string, onOverdue: (trouble: string, limitSeconds: number) => void): void {
    const { id, operation, crashes } = task;
    task.startedAt = performance.now();
    const model = modelOf(operation);
    const isFirst = model !== null && !this.#modelsUsed.has(model);
    if (model !== null) this.#modelsUsed.add(model);
    // Each earlier crash doubles the limit, in case a slow operation was killed too early.
    const limitSeconds = this.#limits.of({ ...operation, speechDevice }, isFirst) * 2 ** crashes;
    this.#watchdog.watch(id, limitSeconds, (seconds) =>
      onOverdue(`the worker was at one ${operation.name} for ${Math.floor(seconds)} s`, limitSeconds),
    );
  }

  /** Stops watching an operation, whatever its outcome. */
  ended(id: number): void {
    this.#watchdog.release(id);
  }

  /** Learns from the duration of a completed operation. @returns the duration in seconds */
  done({ operation, startedAt, cancelled }: Task, speechDevice: string): number {
    const seconds = (performance.now() - startedAt) / 1000;
    // A cancelled operation may have done only part of its work.
    if (!cancelled) this.#limits.learn({ ...operation, speechDevice }, seconds);
    return seconds;
  }

  /**
   * Describes an operation that has used at least half of its limit; null when there is none.
   * @param running the operations that the worker is running
   */
  late(running: readonly Task[]): string | null {
    for (const { id, operation } of running) {
      const standing = this.#watchdog.standing(id);
      if (standing === null || standing.seconds < standing.limitSeconds / 2) continue;
      return `the worker has been at one ${operation.name} for ${Math.floor(standing.seconds)} s`;
    }
    return null;
  }

  /** Forgets all speech models except these, because the worker frees them. */
  keepModels(paths: readonly string[]): void {
    for (const path of this.#modelsUsed) if (!paths.includes(path)) this.#modelsUsed.delete(path);
  }

  /** Forgets all operations and loaded models, because the worker has exited. */
  workerGone(): void {
    this.#watchdog.releaseAll();
    this.#modelsUsed.clear();
  }

  [Symbol.dispose](): void {
    this.#watchdog[Symbol.dispose]();
  }
}
