import { runsAlone } from "./blame.ts";
import type { Task } from "./task.ts";

/** The operations that a worker is working on: as many as it has lanes, or one that has to run alone. */
export class Lanes {
  /** How many lanes there are. What runs when there become fewer goes on to its end. */
  count: number;
  readonly #running = new Map<number, Task>();

  constructor(count: number) {
    this.count = count;
  }

  /** How many more operations may begin. */
  get room(): number {
    return Math.max(0, this.count - this.#running.size);
  }

  get nothingRuns(): boolean {
    return this.#running.size === 0;
  }

  running(): readonly Task[] {
    return [...this.#running.values()];
  }

  /** Whether an operation may begin beside what runs. */
  takes(task: Task): boolean {
    if (this.room === 0) return false;
    return this.nothingRuns || ![task, ...this.#running.values()].some(runsAlone);
  }

  begin(task: Task): void {
    this.#running.set(task.id, task);
  }

  /** Frees the lane of one that has ended. @returns null when it does not run any more */
  end(id: number): Task | null {
    const task = this.#running.get(id) ?? null;
    this.#running.delete(id);
    return task;
  }

  /** Frees all lanes. @returns what ran */
  interrupt(): Task[] {
    const interrupted = [...this.#running.values()];
    this.#running.clear();
    return interrupted;
  }
}
