import { runsAlone } from "./blame.ts";
import type { Task } from "./task.ts";

/** The operations that wait, in the order they came, and those that run: as many as there are lanes, or one alone. */
export class Lanes {
  #count: number;
  readonly #waiting: Task[] = [];
  readonly #running = new Map<number, Task>();

  constructor(count: number) {
    this.#count = count;
  }

  /** So many run at once from now on; more than that end as they would have. */
  setCount(count: number): void {
    this.#count = count;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#running.size === 0;
  }

  get nothingRuns(): boolean {
    return this.#running.size === 0;
  }

  running(): readonly Task[] {
    return [...this.#running.values()];
  }

  add(task: Task): void {
    this.#waiting.push(task);
  }

  /** Takes back one that waits. @returns false when it does not wait any more */
  withdraw(task: Task): boolean {
    const place = this.#waiting.indexOf(task);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }

  /** Moves the first that waits to a lane. @returns null when there is none, or none may begin now */
  begin(): Task | null {
    const next = this.#waiting[0];
    if (next === undefined || this.#running.size >= this.#count) return null;
    if (this.#running.size > 0 && [next, ...this.#running.values()].some(runsAlone)) return null;
    this.#waiting.shift();
    this.#running.set(next.id, next);
    return next;
  }

  /** Frees the lane of one that has ended. @returns null when it does not run any more */
  end(id: number): Task | null {
    const task = this.#running.get(id) ?? null;
    this.#running.delete(id);
    return task;
  }

  /** Frees all lanes. @returns what ran */
  interrupt(): Task[] {
    const interrupted = this.running();
    this.#running.clear();
    return [...interrupted];
  }

  /** Puts what was interrupted before all that waits, in its order. */
  putBack(tasks: readonly Task[]): void {
    this.#waiting.unshift(...tasks);
  }

  /** Frees all lanes and drops what waits. @returns both */
  clear(): Task[] {
    return [...this.interrupt(), ...this.#waiting.splice(0)];
  }
}
