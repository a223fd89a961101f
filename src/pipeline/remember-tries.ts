import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { type Engine, EngineCrashError, EngineKilledError } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Checkpoints } from "../transcriptions/index.ts";
import { operationSignal } from "./operation-signal.ts";
import { ParkingError } from "./parking-error.ts";

/** What has come of the tries of an operation that a recording is at. */
const triesSchema = Type.Object({
  /** Its name, and a digest of what it is done with. */
  operation: Type.String(),
  /** Workers that died of it. */
  deaths: Type.Integer({ minimum: 0 }),
  /** Tries that were cut off by what it may have had no part in: its worker was killed from outside, or the server was. */
  interruptions: Type.Integer({ minimum: 0 }),
});

/**
 * After so many interruptions it is tried after a pause only: memory that was short may be there then, the other recordings
 * come before it, and a service manager that counts starts (systemd: five in five minutes) doesn't give up.
 */
const interruptionsUntilPauses = 3;
const defaultPauseMilliseconds = 60_000;
/** After so many it is given up. Only chance would have an innocent one hit that often, behind those pauses. */
const mostInterruptions = 6;

export interface RememberOptions {
  readonly recordingId: string;
  readonly checkpoints: Checkpoints;
  readonly log: Logger;
  /** How long an operation waits that was interrupted again and again. */
  readonly pauseMilliseconds?: number;
}

/**
 * The engine as one recording uses it: how often an operation took the worker down, or the server, is kept with the
 * recording, so that one that does it again and again comes to its end whatever is started anew meanwhile. Workers that die
 * of it the engine counts to its limit, from what is kept here; interruptions are counted here. Where the recording is
 * parked, what the worker has begun may end.
 */
export function rememberTries(
  engine: Pick<Engine, "run" | "partsAtOnce">,
  options: RememberOptions,
): Pick<Engine, "run" | "partsAtOnce"> {
  const { recordingId, checkpoints, log, pauseMilliseconds = defaultPauseMilliseconds } = options;
  const places = new Places(checkpoints);
  return {
    get partsAtOnce() {
      return engine.partsAtOnce;
    },
    async run(operation, params, signal) {
      signal.throwIfAborted();
      const name = `${operation} ${digestOf(params)}`;
      using tries = places.take(name);
      for (;;) {
        const { deaths, interruptions } = tries;
        if (interruptions >= mostInterruptions) {
          throw new EngineCrashError(`${operation} was interrupted ${interruptions} times`);
        }
        if (interruptions >= interruptionsUntilPauses) {
          log.warn({ event: "recording.doubtful", recordingId, operation, interruptions });
          await pause(pauseMilliseconds, signal);
        }
        let isTried = false;
        using own = operationSignal(signal);
        try {
          const result = await engine.run(operation, params, own.signal, {
            deaths,
            begins() {
              // Beforehand: a server that is killed can't count any more.
              tries.add({ interruptions: 1 });
              isTried = true;
              own.begun();
            },
            died(death) {
              isTried = false;
              // A worker that was killed leaves the interruption standing.
              if (death === "of itself") tries.add({ deaths: 1, interruptions: -1 });
              // That ends by itself: the CPU is what is left.
              if (death === "of the GPU") tries.add({ interruptions: -1 });
            },
          });
          tries.done();
          return result;
        } catch (error) {
          // Parking interrupts by order, which counts for nothing; of a recording that a command has ended nothing is kept.
          if (isTried && signal.reason instanceof ParkingError) tries.add({ interruptions: -1 });
          if (!(error instanceof EngineKilledError)) throw error;
          signal.throwIfAborted();
        }
      }
    },
  };
}

type Kept = Static<typeof triesSchema>;

/** Where the tries of the operations are kept that a recording is at, one in each place; another's come there once it is done. */
class Places {
  readonly #checkpoints: Checkpoints;
  readonly #taken = new Set<number>();

  constructor(checkpoints: Checkpoints) {
    this.#checkpoints = checkpoints;
  }

  /** Takes the place where an operation's tries are kept, or the first that has none which count. */
  take(operation: string): KeptTries {
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

  /** It was done: asked for again, it begins anew. */
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

function digestOf(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 16);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal.throwIfAborted();
}
