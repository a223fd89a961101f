import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { WorkerDeath } from "./engine-options.ts";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "./errors.ts";
import type { Task, Tries } from "./task.ts";

/**
 * A worker that dies does not say what of. All that it was at have it counted against them, are tried again, and one
 * against which two are counted is tried with nothing beside it: what only ran beside a bad one goes through then, and the
 * bad one has its third counted and is given up. Workers that die by themselves and those that somebody kills are counted
 * apart: the latter is no proof, so whoever asked may ask again.
 */
const mostTries = 3;

/** Counts a worker's end against the operations that are to blame for it: none where the GPU failed. @param interrupted what it was at */
export function blame(interrupted: readonly Task[], { signal, gpuFailure }: WorkerDeath, log: Logger): void {
  const stalled = interrupted.filter((task) => task.stalled);
  // Where the worker was ended because of one, what ran beside that one did nothing.
  for (const task of stalled.length > 0 ? stalled : interrupted) {
    if (task.abandoned) continue;
    if (gpuFailure !== undefined) {
      tell(task, "of the GPU", log);
      continue;
    }
    // No code brings this signal upon itself: somebody did, the kernel when memory was short, or the watchdog.
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
    // It counts here all the same.
    log.error({ event: "engine.death_not_kept", trouble: messageOf(error) });
  }
}

/** Whether its next try is the last, which it has the worker to itself for. */
export function runsAlone({ deaths, kills }: Task): boolean {
  return deaths + kills >= mostTries - 1;
}

/** What it fails with after its last try; null while there is another. */
export function givenUp({ operation, deaths, kills, stalled }: Task): EngineCrashError | null {
  const times = (count: number) => `the worker died ${count} times at ${operation.name}`;
  if (deaths >= mostTries && stalled) return new EngineStalledError(`${times(deaths)}, having come to no end with it`);
  if (deaths >= mostTries) return new EngineCrashError(times(deaths));
  return kills >= mostTries ? new EngineKilledError(`${times(kills)}, killed from outside`) : null;
}
