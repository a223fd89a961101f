import { isLiveOperation } from "../operations/index.ts";
import { runsAlone, type Task } from "./task.ts";
import { modelOf } from "./time-limits.ts";

/** The operations that no worker has yet: first those of live sessions, then the others, each in the order of their requests. */
export class TaskQueue {
  readonly #tasks: Task[] = [];

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  /** Returns how many waiting operations meet a condition. */
  count(condition: (task: Task) => boolean): number {
    return this.#tasks.filter(condition).length;
  }

  add(task: Task): void {
    const isLive = isLiveOperation(task.operation.name);
    const firstOther = isLive ? this.#tasks.findIndex(({ operation }) => !isLiveOperation(operation.name)) : -1;
    this.#tasks.splice(firstOther < 0 ? this.#tasks.length : firstOther, 0, task);
  }

  /** Removes a waiting operation. @returns false when it is no longer waiting */
  withdraw(task: Task): boolean {
    const index = this.#tasks.indexOf(task);
    if (index >= 0) this.#tasks.splice(index, 1);
    return index >= 0;
  }

  /**
   * Takes the first operation that a worker can start. An operation that must run alone is not overtaken, not even by
   * live operations, because it would wait forever.
   * @param workerFor returns the worker that can start an operation now; null when it has to wait
   */
  take<W>(workerFor: (task: Task) => W | null): { readonly task: Task; readonly worker: W } | null {
    const waitsToRunAlone = this.#tasks.some(runsAlone);
    for (const [index, task] of this.#tasks.entries()) {
      if (waitsToRunAlone && isLiveOperation(task.operation.name)) continue;
      const worker = workerFor(task);
      if (worker !== null) {
        this.#tasks.splice(index, 1);
        return { task, worker };
      }
      if (runsAlone(task)) return null;
    }
    return null;
  }

  /** Puts interrupted operations at the head of the queue, in the given order. */
  putBack(tasks: readonly Task[]): void {
    this.#tasks.unshift(...tasks);
  }

  /** Empties the queue. @returns the operations that were waiting */
  clear(): Task[] {
    return this.#tasks.splice(0);
  }
}

/**
 * The operations that a worker is running: at most one for each lane, or a single one that must run alone. Live
 * operations have lanes of their own, so that they never wait for a chunk of 30 s: as many for the recognizer as
 * recordings have, and as many for the others. They share the processors with the recordings' operations.
 */
export class Lanes {
  /** Number of lanes. When it becomes smaller, running operations still complete. */
  count = 1;
  /** Whether live operations of the recognizer take lanes of recordings, as on a GPU, which has slots for its lanes. */
  sharesLanes = false;
  readonly #running = new Map<number, Task>();

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  running(): readonly Task[] {
    return [...this.#running.values()];
  }

  /** Returns the number of free lanes for an operation, regardless of those that must run alone. */
  freeFor(task: Task): number {
    const group = this.#groupOf(task);
    const running = this.running().filter((other) => this.#groupOf(other) === group);
    return Math.max(0, this.count - running.length);
  }

  /** Returns whether an operation may start next to the running ones. */
  accepts(task: Task): boolean {
    if (this.freeFor(task) === 0) return false;
    return this.isIdle || ![task, ...this.#running.values()].some(runsAlone);
  }

  start(task: Task): void {
    this.#running.set(task.id, task);
  }

  /** Frees the lane of a finished operation. @returns null when that operation is not running */
  finish(id: number): Task | null {
    const task = this.#running.get(id) ?? null;
    this.#running.delete(id);
    return task;
  }

  /** Frees all lanes. @returns the operations that were running */
  interrupt(): Task[] {
    const interrupted = [...this.#running.values()];
    this.#running.clear();
    return interrupted;
  }

  #groupOf({ operation }: Task): LaneGroup {
    if (!isLiveOperation(operation.name)) return "recordings";
    if (modelOf(operation) === null) return "live";
    return this.sharesLanes ? "recordings" : "live recognizer";
  }
}

/** Operations that share lanes. */
type LaneGroup = "recordings" | "live" | "live recognizer";
