import { runsAlone } from "./attempts.ts";
import type { Task } from "./task.ts";

/** The operations that a worker is running: at most one for each lane, or a single one that must run alone. */
export class Lanes {
  /** Number of lanes. When it becomes smaller, running operations still complete. */
  count: number;
  readonly #running = new Map<number, Task>();

  constructor(count: number) {
    this.count = count;
  }

  /** Number of free lanes. */
  get room(): number {
    return Math.max(0, this.count - this.#running.size);
  }

  get nothingRuns(): boolean {
    return this.#running.size === 0;
  }

  running(): readonly Task[] {
    return [...this.#running.values()];
  }

  /** Returns whether an operation may start next to the running ones. */
  takes(task: Task): boolean {
    if (this.room === 0) return false;
    return this.nothingRuns || ![task, ...this.#running.values()].some(runsAlone);
  }

  begin(task: Task): void {
    this.#running.set(task.id, task);
  }

  /** Frees the lane of a finished operation. @returns null when that operation is not running */
  end(id: number): Task | null {
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
}
