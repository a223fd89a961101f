/** A handler of SIGHUP that is active once constructed. A signal before `take` is stored and delivered to `take`. */
export class Hangups {
  #take: (() => void) | null = null;
  #isKept = false;

  constructor() {
    process.on("SIGHUP", () => {
      if (this.#take === null) this.#isKept = true;
      else this.#take();
    });
  }

  take(take: () => void): void {
    this.#take = take;
    if (this.#isKept) take();
  }
}
