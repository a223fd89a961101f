/** Events of a simulation in the order of their times. */
export class Events {
  readonly #heap: { readonly at: number; readonly order: number; readonly action: () => void }[] = [];
  #count = 0;
  /** Seconds since the start. */
  now = 0;

  after(seconds: number, action: () => void): void {
    const heap = this.#heap;
    const event = { at: this.now + seconds, order: this.#count++, action };
    let place = heap.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(event, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = event;
  }

  /** Lets time pass until there are no events, or until a moment. */
  run(until = Number.POSITIVE_INFINITY): void {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.at > until) return;
      this.#removeFirst();
      this.now = first.at;
      first.action();
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) break;
      const child = b !== undefined && isBefore(b, a) ? left + 1 : left;
      const least = heap[child];
      if (least === undefined || !isBefore(least, last)) break;
      heap[place] = least;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(a: { at: number; order: number }, b: { at: number; order: number }): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** A resource with equal servers, such as cores, a network link of one, or slots. Jobs are served in their order. */
export class Station {
  readonly #events: Events;
  readonly servers: number;
  readonly #waiting: (() => void)[] = [];
  /** First entry of the queue; earlier ones were served. */
  #head = 0;
  #used = 0;
  #since = 0;
  #usedSeconds = 0;

  constructor(events: Events, servers: number) {
    this.#events = events;
    this.servers = servers;
  }

  /** Calls back when a server is free for this job, which must release it. */
  acquire(then: () => void): void {
    if (this.#used < this.servers) {
      this.#change(1);
      then();
    } else this.#waiting.push(then);
  }

  release(): void {
    const next = this.#waiting[this.#head];
    if (next === undefined) {
      this.#change(-1);
      return;
    }
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#head);
      this.#head = 0;
    }
    next();
  }

  /** Serves a job for some seconds. */
  use(seconds: number, then: () => void): void {
    this.acquire(() =>
      this.#events.after(seconds, () => {
        this.release();
        then();
      }),
    );
  }

  get waiting(): number {
    return this.#waiting.length - this.#head;
  }

  get free(): boolean {
    return this.#used < this.servers;
  }

  /** Begins a new measurement of the use. */
  reset(): void {
    this.#change(0);
    this.#usedSeconds = 0;
  }

  /** Seconds of use of all servers together since the last reset. */
  get usedSeconds(): number {
    this.#change(0);
    return this.#usedSeconds;
  }

  #change(by: number): void {
    this.#usedSeconds += this.#used * (this.#events.now - this.#since);
    this.#since = this.#events.now;
    this.#used += by;
  }
}
