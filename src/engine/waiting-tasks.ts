import { runsAlone } from "./blame.ts";
import type { Task } from "./task.ts";

/** The operations that no worker has yet, in the order they came. */
export class WaitingTasks {
  readonly #tasks: Task[] = [];

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  add(task: Task): void {
    this.#tasks.push(task);
  }

  /** Takes back one that waits. @returns false when it does not wait any more */
  withdraw(task: Task): boolean {
    const place = this.#tasks.indexOf(task);
    if (place >= 0) this.#tasks.splice(place, 1);
    return place >= 0;
  }

  /**
   * Takes the first that there is a place for. Nothing overtakes an operation that has to run alone: it would wait for ever.
   * @param placeFor where it may begin now; null: nowhere
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

  /** Puts what was interrupted in front of all that waits, in its order. */
  putBack(tasks: readonly Task[]): void {
    this.#tasks.unshift(...tasks);
  }

  /** Drops all. @returns what waited */
  clear(): Task[] {
    return this.#tasks.splice(0);
  }
}
