import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { EngineCrashError, EngineKilledError } from "../engine/index.ts";
import { SuspendError } from "../queue/index.ts";
import type { Checkpoints } from "../recordings/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type StepEngine, withRun } from "./step.ts";

/**
 * Number of interruptions after which an operation is retried only after a pause. Memory that was short may be free by
 * then, and a service manager that counts starts (systemd: five in five minutes) does not give up.
 */
const INTERRUPTIONS_UNTIL_PAUSES = 3;
const PAUSE_MILLISECONDS = 60_000;
/** Number of interruptions after which an operation fails. With the pauses, a harmless operation hardly reaches it. */
const MAX_INTERRUPTIONS = 6;

const attemptsSchema = Type.Object({
  /** The operation's name and a digest of its parameters. */
  operation: Type.String(),
  /** Number of workers that the operation crashed; the stored name is that of earlier versions. */
  deaths: Type.Integer({ minimum: 0 }),
  /** Number of times that the worker or the server was killed meanwhile. The operation may not be the cause. */
  interruptions: Type.Integer({ minimum: 0 }),
});

interface AttemptOptions {
  readonly recordingId: string;
  readonly checkpoints: Checkpoints;
  readonly log: Logger;
  /** Stores the machine of a fleet that computed a part of the recording. */
  readonly countPart: (machine: string) => void;
  /** Pause before the retry of an operation that was interrupted several times, in milliseconds. */
  readonly pauseMilliseconds?: number;
}

/**
 * Wraps the engine for one recording and stores how often an operation crashed the worker or stopped the server, so
 * that an operation that does this repeatedly fails, even across restarts. The engine limits the crashes, starting from
 * the stored count; interruptions are limited here. When the recording is suspended, a started operation may finish.
 */
export function countAttempts(engine: StepEngine, options: AttemptOptions): StepEngine {
  const { recordingId, checkpoints, log, countPart, pauseMilliseconds = PAUSE_MILLISECONDS } = options;
  const placesInUse = new Set<number>();
  return withRun(engine, async (operation, params, signal) => {
    signal.throwIfAborted();
    using attempts = new StoredAttempts(checkpoints, placesInUse, `${operation} ${digestOf(params)}`);
    for (;;) {
      const { crashes, interruptions } = attempts;
      if (interruptions >= MAX_INTERRUPTIONS) {
        throw new EngineCrashError(`${operation} was interrupted ${interruptions} times`);
      }
      if (interruptions >= INTERRUPTIONS_UNTIL_PAUSES) {
        log.warn({ event: "recording.doubtful", recordingId, operation, interruptions });
        await sleep(pauseMilliseconds, undefined, { signal }).catch(() => {});
        signal.throwIfAborted();
      }
      let isStarted = false;
      let completedBy: string | null = null;
      using own = operationSignal(signal);
      try {
        const result = await engine.run(operation, params, own.signal, {
          crashes,
          onStart() {
            // Counted before the operation starts, because a server that is killed cannot count afterwards.
            attempts.add({ interruptions: 1 });
            isStarted = true;
            own.started();
          },
          onCompletedBy(machine) {
            completedBy = machine;
            log.debug({ event: "recording.operation_finished", recordingId, operation, machine });
          },
          onInterrupted(cause) {
            isStarted = false;
            // If the worker was killed, the interruption stays counted.
            if (cause === "crashed") attempts.add({ crashes: 1, interruptions: -1 });
            // Not counted: failing GPUs are given up one by one until only the CPU is left, and a machine that leaves a
            // fleet proves nothing.
            if (cause === "gpu failed" || cause === "returned") attempts.add({ interruptions: -1 });
          },
        });
        attempts.reset();
        if (completedBy !== null) countPart(completedBy);
        return result;
      } catch (error) {
        // An interruption by suspension is intended. Nothing is stored for a recording that a command has ended.
        if (isStarted && signal.reason instanceof SuspendError) attempts.add({ interruptions: -1 });
        if (!(error instanceof EngineKilledError)) throw error;
        signal.throwIfAborted();
      }
    }
  });
}

function digestOf(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 16);
}

/**
 * The stored attempts at one operation. They have a number among the recording's checkpoints, which is occupied until
 * disposal and may be reused after success. A change is stored before it takes effect in memory.
 */
class StoredAttempts implements Disposable {
  readonly #checkpoints: Checkpoints;
  readonly #placesInUse: Set<number>;
  readonly #place: number;
  #stored: Static<typeof attemptsSchema>;

  constructor(checkpoints: Checkpoints, placesInUse: Set<number>, operation: string) {
    const idle = [...checkpoints.finished("tries")]
      .filter((place) => !placesInUse.has(place))
      .map((place) => ({ place, stored: checkpoints.read("tries", place, attemptsSchema) }));
    const own = idle.find(({ stored }) => stored?.operation === operation);
    const isCounting = ({ stored }: (typeof idle)[number]) =>
      stored !== null && stored.deaths + stored.interruptions > 0;
    const occupied = new Set([...placesInUse, ...idle.filter(isCounting).map(({ place }) => place)]);
    let place = own?.place ?? 0;
    while (own === undefined && occupied.has(place)) place++;
    placesInUse.add(place);
    this.#checkpoints = checkpoints;
    this.#placesInUse = placesInUse;
    this.#place = place;
    this.#stored = own?.stored ?? { operation, deaths: 0, interruptions: 0 };
  }

  get crashes(): number {
    return this.#stored.deaths;
  }

  get interruptions(): number {
    return this.#stored.interruptions;
  }

  add({ crashes = 0, interruptions = 0 }: { crashes?: number; interruptions?: number }): void {
    const next = {
      operation: this.#stored.operation,
      deaths: this.crashes + crashes,
      interruptions: this.interruptions + interruptions,
    };
    this.#checkpoints.write("tries", this.#place, attemptsSchema, next);
    this.#stored = next;
  }

  /** Resets the counts because the operation succeeded. */
  reset(): void {
    this.add({ crashes: -this.crashes, interruptions: -this.interruptions });
  }

  [Symbol.dispose](): void {
    this.#placesInUse.delete(this.#place);
  }
}

/**
 * Creates the abort signal of one operation. If the recording is suspended after the worker has started the operation,
 * the signal is aborted only after the grace time; before that, no work can be lost.
 */
function operationSignal(recordingSignal: AbortSignal) {
  const controller = new AbortController();
  let isStarted = false;
  let timer: NodeJS.Timeout | undefined;
  let graceEnded: AbortSignal | null = null;
  const end = () => controller.abort(recordingSignal.reason);
  const abort = () => {
    const reason: unknown = recordingSignal.reason;
    if (!isStarted || !(reason instanceof SuspendError) || reason.graceMilliseconds === 0) return end();
    timer = setTimeout(end, reason.graceMilliseconds);
    graceEnded = reason.graceEnded;
    if (graceEnded.aborted) end();
    else graceEnded.addEventListener("abort", end, { once: true });
  };
  recordingSignal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    /** Notes that the worker has started the operation. */
    started() {
      isStarted = true;
    },
    [Symbol.dispose]() {
      recordingSignal.removeEventListener("abort", abort);
      graceEnded?.removeEventListener("abort", end);
      clearTimeout(timer);
    },
  };
}
