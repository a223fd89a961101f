import { createHash } from "node:crypto";
import { setTimeout as passed } from "node:timers/promises";
import { EngineCrashError, EngineKilledError } from "../engine/index.ts";
import { type Checkpoints, ParkingError } from "../recordings/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { TriesOfRecording } from "./kept-tries.ts";
import { operationSignal } from "./operation-signal.ts";
import type { StepEngine } from "./step.ts";

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
export function rememberTries(engine: StepEngine, options: RememberOptions): StepEngine {
  const { recordingId, checkpoints, log, pauseMilliseconds = defaultPauseMilliseconds } = options;
  const kept = new TriesOfRecording(checkpoints);
  return {
    get partsAtOnce() {
      return engine.partsAtOnce;
    },
    async run(operation, params, signal) {
      signal.throwIfAborted();
      using tries = kept.of(`${operation} ${digestOf(params)}`);
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

function digestOf(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 16);
}

/** @throws the signal's reason, as soon as it is aborted */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await passed(milliseconds, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
