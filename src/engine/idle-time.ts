export interface IdleTimeOptions {
  /** After how long of being unused it is idle; asked at each look, 0: never. */
  readonly limitMilliseconds: () => number;
  /** How often to look. */
  readonly lookMilliseconds: number;
  /** Called at each look for as long as it is idle. */
  readonly onIdle: () => void;
}

/** Notices when something has not been used for long. */
export class IdleTime implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #usedAt = performance.now();

  constructor({ limitMilliseconds, lookMilliseconds, onIdle }: IdleTimeOptions) {
    const look = () => {
      const limit = limitMilliseconds();
      if (limit > 0 && performance.now() - this.#usedAt >= limit) onIdle();
    };
    this.#timer = setInterval(look, lookMilliseconds);
    this.#timer.unref();
  }

  used(): void {
    this.#usedAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
