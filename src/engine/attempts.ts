import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { UnexpectedExit } from "./engine-options.ts";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "./errors.ts";
import type { AttemptRecord, Task } from "./task.ts";

/**
 * Number of crashes, and of kills, after which an operation fails. A worker that crashes does not report the cause.
 * Every operation that it was running gets a crash counted and is retried. An operation with two counted crashes is
 * retried with nothing else running in the same worker. A harmless operation completes then; the faulty one gets its
 * third crash and fails. Crashes and kills from outside are counted separately: a kill is no proof, so the caller may
 * ask again.
 */
const MAX_ATTEMPTS = 3;

/**
 * Counts a worker's exit against the operations that may have caused it; counts nothing when the GPU failed.
 * @param interrupted the operations that the worker was running
 */
export function countExit(interrupted: readonly Task[], { signal, gpuFailure }: UnexpectedExit, log: Logger): void {
  const stalled = interrupted.filter((task) => task.stalled);
  // When the worker was killed because one operation was stuck, the operations next to that one are not to blame.
  for (const task of stalled.length > 0 ? stalled : interrupted) {
    if (task.cancelled) continue;
    if (gpuFailure !== undefined) {
      tell(task, "gpu failed", log);
      continue;
    }
    // No code raises SIGKILL on itself: the sender is the kernel (out of memory), a person or the watchdog.
    const wasKilled = signal === "SIGKILL" && !task.stalled;
    if (wasKilled) task.kills += 1;
    else task.crashes += 1;
    tell(task, wasKilled ? "killed" : "crashed", log);
  }
}

function tell({ record }: Task, death: Parameters<AttemptRecord["onInterrupted"]>[0], log: Logger): void {
  try {
    record?.onInterrupted(death);
  } catch (error) {
    // The in-memory counters above are updated even when the record cannot be stored.
    log.error({ event: "engine.crash_not_recorded", trouble: messageOf(error) });
  }
}

/** Returns whether the next attempt is the last one, which runs with no other operation in the same worker. */
export function runsAlone({ crashes, kills }: Task): boolean {
  return crashes + kills >= MAX_ATTEMPTS - 1;
}

/** Returns the error of an operation that has no attempt left; null when another attempt remains. */
export function finalError({ operation, crashes, kills, stalled }: Task): EngineCrashError | null {
  const times = (count: number) => `the worker died ${count} times at ${operation.name}`;
  if (crashes >= MAX_ATTEMPTS && stalled)
    return new EngineStalledError(`${times(crashes)}, having come to no end with it`);
  if (crashes >= MAX_ATTEMPTS) return new EngineCrashError(times(crashes));
  return kills >= MAX_ATTEMPTS ? new EngineKilledError(`${times(kills)}, killed from outside`) : null;
}
