import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { WorkerDeath } from "./engine-options.ts";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "./errors.ts";
import type { Task, Tries } from "./task.ts";

/**
 * Number of crashes, and of kills, after which an operation fails. A worker that crashes does not report the cause.
 * Every operation that it was running gets a crash counted and is retried. An operation with two counted crashes is
 * retried with nothing else running in the same worker. A harmless operation completes then; the faulty one gets its
 * third crash and fails. Crashes and kills from outside are counted separately: a kill is no proof, so the caller may
 * ask again.
 */
const mostTries = 3;

/**
 * Counts a worker's exit against the operations that may have caused it; counts nothing when the GPU failed.
 * @param interrupted the operations that the worker was running
 */
export function blame(interrupted: readonly Task[], { signal, gpuFailure }: WorkerDeath, log: Logger): void {
  const stalled = interrupted.filter((task) => task.stalled);
  // When the worker was killed because one operation was stuck, the operations next to that one are not to blame.
  for (const task of stalled.length > 0 ? stalled : interrupted) {
    if (task.abandoned) continue;
    if (gpuFailure !== undefined) {
      tell(task, "of the GPU", log);
      continue;
    }
    // No code raises SIGKILL on itself: the sender is the kernel (out of memory), a person or the watchdog.
    const wasKilled = signal === "SIGKILL" && !task.stalled;
    if (wasKilled) task.kills += 1;
    else task.deaths += 1;
    tell(task, wasKilled ? "killed" : "of itself", log);
  }
}

function tell({ tries }: Task, death: Parameters<Tries["died"]>[0], log: Logger): void {
  try {
    tries?.died(death);
  } catch (error) {
    // The in-memory counters above are updated even when the record cannot be stored.
    log.error({ event: "engine.death_not_kept", trouble: messageOf(error) });
  }
}

/** Returns whether the next attempt is the last one, which runs with no other operation in the same worker. */
export function runsAlone({ deaths, kills }: Task): boolean {
  return deaths + kills >= mostTries - 1;
}

/** Returns the error of an operation that has no attempt left; null when another attempt remains. */
export function givenUp({ operation, deaths, kills, stalled }: Task): EngineCrashError | null {
  const times = (count: number) => `the worker died ${count} times at ${operation.name}`;
  if (deaths >= mostTries && stalled) return new EngineStalledError(`${times(deaths)}, having come to no end with it`);
  if (deaths >= mostTries) return new EngineCrashError(times(deaths));
  return kills >= mostTries ? new EngineKilledError(`${times(kills)}, killed from outside`) : null;
}
