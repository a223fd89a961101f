import { type Static, Type } from "@sinclair/typebox";
import type { Checkpoints } from "../recordings/index.ts";

/** Attempts at an operation. */
const triesSchema = Type.Object({
  /** The operation's name and a digest of its parameters. */
  operation: Type.String(),
  /** Number of workers that the operation crashed. */
  deaths: Type.Integer({ minimum: 0 }),
  /**
   * Number of interrupted attempts: the worker was killed from outside, or the server was. The operation may not be the
   * cause.
   */
  interruptions: Type.Integer({ minimum: 0 }),
});
type Kept = Static<typeof triesSchema>;

/**
 * The stored attempts at the operations of one recording. They are stored with its checkpoints: each operation has a
 * number there, which another operation may reuse once the first is done.
 */
export class TriesOfRecording {
  readonly #checkpoints: Checkpoints;
  readonly #taken = new Set<number>();

  constructor(checkpoints: Checkpoints) {
    this.#checkpoints = checkpoints;
  }

  /**
   * Returns the attempts at an operation: the stored ones, or a record without attempts. The number is occupied until
   * the result is disposed.
   */
  of(operation: string): KeptTries {
    const stored = [...this.#checkpoints.finished("tries")]
      .filter((place) => !this.#taken.has(place))
      .map((place) => ({ place, kept: this.#checkpoints.read("tries", place, triesSchema) }));
    const own = stored.find(({ kept }) => kept?.operation === operation);
    const inUse = new Set(stored.filter(({ kept }) => kept !== null && counts(kept)).map(({ place }) => place));
    let place = own?.place ?? 0;
    while (own === undefined && (this.#taken.has(place) || inUse.has(place))) place++;
    this.#taken.add(place);
    return new KeptTries(own?.kept ?? { operation, deaths: 0, interruptions: 0 }, {
      store: (next) => this.#checkpoints.write("tries", place, triesSchema, next),
      leave: () => this.#taken.delete(place),
    });
  }
}

function counts({ deaths, interruptions }: Kept): boolean {
  return deaths + interruptions > 0;
}

interface Place {
  readonly store: (kept: Kept) => void;
  readonly leave: () => void;
}

/** The stored attempts at one operation. A change is stored before it takes effect in memory. */
class KeptTries implements Disposable {
  #kept: Kept;
  readonly #place: Place;

  constructor(kept: Kept, place: Place) {
    this.#kept = kept;
    this.#place = place;
  }

  /** Resets the counts because the operation succeeded; a later run starts without attempts. */
  done(): void {
    this.add({ deaths: -this.deaths, interruptions: -this.interruptions });
  }

  [Symbol.dispose](): void {
    this.#place.leave();
  }

  get deaths(): number {
    return this.#kept.deaths;
  }

  get interruptions(): number {
    return this.#kept.interruptions;
  }

  add({ deaths = 0, interruptions = 0 }: { deaths?: number; interruptions?: number }): void {
    const { operation } = this.#kept;
    const next = {
      operation,
      deaths: this.#kept.deaths + deaths,
      interruptions: this.#kept.interruptions + interruptions,
    };
    this.#place.store(next);
    this.#kept = next;
  }
}
