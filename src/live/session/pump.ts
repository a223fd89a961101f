/**
 * Repeats a step while there is work for it. Of one pump, one step runs at a time, so a session has one operation of each
 * kind in the engine.
 */
export class Pump {
  readonly #step: () => Promise<boolean>;
  readonly #onFault: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isStopped = false;

  /**
   * @param step returns whether it did anything; then it is called again
   * @param onFault receives the error of a step, after which the pump waits until it is woken
   */
  constructor(step: () => Promise<boolean>, onFault: (error: unknown) => void) {
    this.#step = step;
    this.#onFault = onFault;
  }

  /** Starts the steps. While they run, another step follows. */
  wake(): void {
    this.#isWoken = true;
    this.#running ??= this.#run();
  }

  /** Starts no further step. @returns a promise that resolves when the last one is over */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Callers that wake it do so in the middle of a change, which the step must see complete.
    await Promise.resolve();
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      try {
        if (await this.#step()) this.#isWoken = true;
      } catch (error) {
        if (!this.#isStopped) this.#onFault(error);
      }
    }
    this.#running = null;
  }
}
