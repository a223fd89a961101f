export interface IdleTimeOptions {
  /** Time without use after which the idle state begins; read at each check, 0 disables it. */
  readonly limitMilliseconds: () => number;
  /** Interval of the checks. */
  readonly checkMilliseconds: number;
  /** Called at each check during the idle state. */
  readonly onIdle: () => void;
}

/** Detects that something has not been used for a long time. */
export class IdleTime implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #usedAt = performance.now();

  constructor({ limitMilliseconds, checkMilliseconds, onIdle }: IdleTimeOptions) {
    const look = () => {
      const limit = limitMilliseconds();
      if (limit > 0 && performance.now() - this.#usedAt >= limit) onIdle();
    };
    this.#timer = setInterval(look, checkMilliseconds);
    this.#timer.unref();
  }

  used(): void {
    this.#usedAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
