/**
 * A queue that starts the work of its owners in round robin: however much one of them has waiting, the next owner's first
 * work starts before that one's second. An owner never has more than one work running, so it cannot fill the queue's slots.
 */
export class ExportQueue {
  readonly #slots: number;
  readonly #running = new Set<string>();
  /** Waiting work, in its order, by owner. An owner whose work has ended goes to the end. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param slots how much work runs at once, of all owners together */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Runs work when it is its owner's turn. A signal that aborts takes it out of the queue at once; running work has to obey
   * the signal itself.
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
      this.#keepWaiting(
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
      this.#keepWaiting(owner, others);
      this.#running.add(owner);
      start?.();
    }
  }

  /** Keeps the owner's place among the others. */
  #keepWaiting(owner: string, waiting: (() => void)[]): void {
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    else this.#waiting.delete(owner);
  }
}
