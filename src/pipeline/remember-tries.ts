import { createHash } from "node:crypto";
import { setTimeout as passed } from "node:timers/promises";
import { EngineCrashError, EngineKilledError } from "../engine/index.ts";
import { type Checkpoints, SuspendError } from "../recordings/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { TriesOfRecording } from "./kept-tries.ts";
import { operationSignal } from "./operation-signal.ts";
import type { StepEngine } from "./step.ts";

/**
 * Number of interruptions after which an operation is retried only after a pause. Memory that was short may be free by
 * then, and other recordings are processed first. A service manager that counts starts (systemd: five in five minutes)
 * does not give up.
 */
const interruptionsUntilPauses = 3;
const defaultPauseMilliseconds = 60_000;
/**
 * Number of interruptions after which an operation fails. Behind the pauses, only chance would interrupt a harmless
 * operation that often.
 */
const mostInterruptions = 6;

export interface RememberOptions {
  readonly recordingId: string;
  readonly checkpoints: Checkpoints;
  readonly log: Logger;
  /** Pause before the retry of an operation that was interrupted several times, in milliseconds. */
  readonly pauseMilliseconds?: number;
}

/**
 * Wraps the engine for one recording and stores how often an operation crashed the worker or stopped the server. An
 * operation that does this repeatedly therefore fails, even across restarts. The engine applies its limit to worker
 * crashes, starting from the count stored here; interruptions are counted here. When the recording is suspended, an
 * operation that the worker has started may finish.
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
            crashes: deaths,
            onStart() {
              // Counted before the operation starts, because a server that is killed cannot count afterwards.
              tries.add({ interruptions: 1 });
              isTried = true;
              own.begun();
            },
            onInterrupted(death) {
              isTried = false;
              // If the worker was killed, the interruption stays counted.
              if (death === "crashed") tries.add({ deaths: 1, interruptions: -1 });
              // Not counted: failing GPUs are given up one by one until only the CPU is left.
              if (death === "gpu failed") tries.add({ interruptions: -1 });
            },
          });
          tries.done();
          return result;
        } catch (error) {
          // An interruption by suspension is intended and does not count. For a recording that a command has ended,
          // nothing is stored.
          if (isTried && signal.reason instanceof SuspendError) tries.add({ interruptions: -1 });
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

/**
 * Waits.
 * @throws the signal's reason, as soon as it is aborted
 */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await passed(milliseconds, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
