/**
 * A queue that starts the tasks of its owners in round robin. However many tasks one owner has waiting, the first task
 * of the next owner starts before the second task of that owner. An owner never has more than one task running, so it
 * cannot fill the queue's slots.
 */
export class ExportQueue {
  readonly #slots: number;
  readonly #running = new Set<string>();
  /** Waiting tasks in order, by owner. An owner whose task has finished moves to the end. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param slots number of tasks that run at once, over all owners */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Runs a task when it is its owner's turn. An abort removes a waiting task from the queue immediately; a running task
   * must handle the signal itself.
   * @throws the signal's reason after an abort
   */
  async run<T>(owner: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(owner, signal);
    try {
      return await work();
    } finally {
      this.#running.delete(owner);
      const waiting = this.#waiting.get(owner);
      this.#waiting.delete(owner);
      if (waiting !== undefined) this.#waiting.set(owner, waiting);
      this.#startNext();
    }
  }

  #turn(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      this.#setWaiting(
        owner,
        (this.#waiting.get(owner) ?? []).filter((each) => each !== start),
      );
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), start]);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    while (this.#running.size < this.#slots) {
      const next = this.#waiting.entries().find(([owner]) => !this.#running.has(owner));
      if (next === undefined) return;
      const [owner, [start, ...others]] = next;
      this.#setWaiting(owner, others);
      this.#running.add(owner);
      start?.();
    }
  }

  /** Replaces an owner's waiting tasks. The owner's place among the owners does not change. */
  #setWaiting(owner: string, waiting: (() => void)[]): void {
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    else this.#waiting.delete(owner);
  }
}
