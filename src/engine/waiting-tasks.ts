import { runsAlone } from "./attempts.ts";
import type { Task } from "./task.ts";

/** Queue of the operations that no worker has yet, in the order of their requests. */
export class WaitingTasks {
  readonly #tasks: Task[] = [];

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  add(task: Task): void {
    this.#tasks.push(task);
  }

  /** Removes a waiting operation. @returns false when it is no longer waiting */
  withdraw(task: Task): boolean {
    const place = this.#tasks.indexOf(task);
    if (place >= 0) this.#tasks.splice(place, 1);
    return place >= 0;
  }

  /**
   * Takes the first operation that a worker can start. No operation overtakes one that must run alone: that one would
   * wait forever.
   * @param placeFor returns where an operation can start now; null when it has to wait
   */
  take<P>(placeFor: (task: Task) => P | null): { readonly task: Task; readonly place: P } | null {
    for (const [index, task] of this.#tasks.entries()) {
      const place = placeFor(task);
      if (place !== null) {
        this.#tasks.splice(index, 1);
        return { task, place };
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
