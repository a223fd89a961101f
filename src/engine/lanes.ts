import { runsAlone } from "./blame.ts";
import type { Task } from "./task.ts";

/** The operations that a worker is at: as many as it has lanes, or one alone. */
export class Lanes {
  #count: number;
  readonly #running = new Map<number, Task>();

  constructor(count: number) {
    this.#count = count;
  }

  /** So many run at once from now on; more than that end as they would have. */
  setCount(count: number): void {
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  /** How many more may begin. */
  get room(): number {
    return Math.max(0, this.#count - this.#running.size);
  }

  get nothingRuns(): boolean {
    return this.#running.size === 0;
  }

  running(): readonly Task[] {
    return [...this.#running.values()];
  }

  /** Whether it may begin beside what runs. */
  takes(task: Task): boolean {
    if (this.nothingRuns) return this.room > 0;
    return this.room > 0 && ![task, ...this.#running.values()].some(runsAlone);
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
