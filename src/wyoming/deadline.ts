/** A time limit that can be set anew. */
export class Deadline {
  readonly #onPassed: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(onPassed: () => void) {
    this.#onPassed = onPassed;
  }

  set(milliseconds: number): void {
    this.clear();
    this.#timer = setTimeout(this.#onPassed, milliseconds);
  }

  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
