import { type Static, Type } from "@sinclair/typebox";
import type { Checkpoints } from "../recordings/index.ts";

/** What has come of the tries of an operation. */
const triesSchema = Type.Object({
  /** Its name, and a digest of what it is done with. */
  operation: Type.String(),
  /** Workers that died of it. */
  deaths: Type.Integer({ minimum: 0 }),
  /** Tries that were cut off, perhaps through no fault of its own: its worker was killed from outside, or the server was. */
  interruptions: Type.Integer({ minimum: 0 }),
});
type Kept = Static<typeof triesSchema>;

/**
 * The tries of the operations that a recording is at, kept with its checkpoints: each operation has a place there, which
 * another may take once it is done.
 */
export class TriesOfRecording {
  readonly #checkpoints: Checkpoints;
  readonly #taken = new Set<number>();

  constructor(checkpoints: Checkpoints) {
    this.#checkpoints = checkpoints;
  }

  /** Those of an operation, for as long as it is at work: as they were kept, or none yet. */
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

/** What is kept of one operation's tries; a change is stored before it counts. */
class KeptTries implements Disposable {
  #kept: Kept;
  readonly #place: Place;

  constructor(kept: Kept, place: Place) {
    this.#kept = kept;
    this.#place = place;
  }

  /** The operation was done: asked for again, it begins anew. */
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
