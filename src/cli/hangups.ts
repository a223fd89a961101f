/** SIGHUP, heard from when this is made; one that comes before anybody takes it is kept. */
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
