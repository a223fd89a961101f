/** The slots of the queue: the account with the fewest running recordings is next, then the one whose last start is longest ago. */
export class FairSlots {
  readonly #slots: number;
  readonly #accounts = new Map<number, { waiting: (() => void)[]; running: number; lastStart: number }>();
  #starts = 0;
  running = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Adds a recording to the queue. @returns what starts now */
  enter(account: number, start: () => void): (() => void)[] {
    const own = this.#accounts.get(account) ?? { waiting: [], running: 0, lastStart: 0 };
    this.#accounts.set(account, own);
    own.waiting.push(start);
    return this.#next();
  }

  /** Ends a recording. @returns what starts now */
  leave(account: number): (() => void)[] {
    const own = this.#accounts.get(account);
    if (own !== undefined) own.running--;
    this.running--;
    return this.#next();
  }

  #next(): (() => void)[] {
    const starting: (() => void)[] = [];
    while (this.running < this.#slots) {
      const waiting = [...this.#accounts.values()].filter((each) => each.waiting.length > 0);
      const [first] = waiting.sort((a, b) => a.running - b.running || a.lastStart - b.lastStart);
      const start = first?.waiting.shift();
      if (first === undefined || start === undefined) break;
      first.running++;
      first.lastStart = ++this.#starts;
      this.running++;
      starting.push(start);
    }
    return starting;
  }
}
