import { readFileSync } from "node:fs";
import { join } from "node:path";

const LOOK_MILLISECONDS = 10;
/** Time after which a text counts as one that never arrives. */
const PATIENCE_MILLISECONDS = 60_000;

/** Measures after what time texts are in the database of a standby, which is not open. */
export class ArrivalWatch implements Disposable {
  /** Milliseconds from `expect` until each text was there; infinite for those that did not arrive. */
  readonly milliseconds: number[] = [];
  readonly #directory: () => string;
  readonly #expected = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  /** @param directory returns the standby's data directory */
  constructor(directory: () => string) {
    this.#directory = directory;
    this.#timer = setInterval(() => this.#look(), LOOK_MILLISECONDS);
  }

  /** Number of texts that have not arrived. */
  get pending(): number {
    return this.#expected.size;
  }

  expect(text: string): void {
    this.#expected.set(text, performance.now());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Looks for the texts in the log, and in the database that it was copied to. */
  #look(): void {
    if (this.#expected.size === 0) return;
    const files = ["transcribe.db-wal", "transcribe.db"].map((name) => read(join(this.#directory(), name)));
    const now = performance.now();
    for (const [text, since] of this.#expected) {
      const hasArrived = files.some((bytes) => bytes.includes(text));
      if (!hasArrived && now - since < PATIENCE_MILLISECONDS) continue;
      this.#expected.delete(text);
      this.milliseconds.push(hasArrived ? now - since : Number.POSITIVE_INFINITY);
    }
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
