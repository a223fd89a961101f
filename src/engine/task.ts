import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "./errors.ts";
import { modelOf, type Operation } from "./time-limits.ts";
import type { RunningOperations, UnexpectedExit } from "./worker-exit.ts";

/**
 * A caller's record of an operation, which outlives the program: the number of workers that crashed at it. The engine
 * notifies it when an attempt starts, and when an attempt ends because the worker exited.
 */
export interface AttemptRecord {
  /** Number of worker crashes at this operation, including earlier runs of the program. */
  readonly crashes: number;
  /** Called when a worker is about to receive the operation. @throws the error that the operation then fails with */
  onStart(): void;
  /** Called with the machine of a fleet that completed the operation; never by an engine without a fleet. */
  onCompletedBy?(machine: string): void;
  /**
   * Called when the worker crashed at the operation, was killed from outside, or was killed because its GPU failed; and
   * when a fleet took the operation back from a machine that left, or that the broker no longer reached.
   */
  onInterrupted(cause: "crashed" | "killed" | "gpu failed" | "returned"): void;
}

/** A requested operation that has not finished. */
export interface Task {
  readonly id: number;
  readonly operation: Omit<Operation, "speechDevice">;
  readonly record: AttemptRecord | null;
  readonly settle: (outcome: { result: unknown } | { error: Error }) => void;
  /** When the worker received the operation, in milliseconds. */
  startedAt: number;
  /** Number of worker crashes at this operation, including workers that were killed because they were stuck at it. */
  crashes: number;
  /** Number of workers that were killed from outside during this operation: because memory was short, or by chance. */
  kills: number;
  /** Whether its worker is being killed because it is stuck at this operation. */
  stalled: boolean;
  /** Whether the caller has cancelled the operation; the worker's answer then only frees the lane. */
  cancelled: boolean;
}

/**
 * Number of crashes, and of kills, after which an operation fails. A crash has no known cause, so every operation of
 * the worker gets a crash counted and is retried. After two crashes, an operation is retried alone in its worker. A
 * harmless operation then completes; the faulty one crashes a third time and fails. Kills from outside are counted
 * separately, because they prove nothing: the caller may retry.
 */
const MAX_ATTEMPTS = 3;

/**
 * Returns the operations that may have caused a worker's exit. When it was killed because one operation was stuck, the
 * operations next to that one are not to blame.
 */
function suspects(running: readonly Task[]): readonly Task[] {
  const stalled = running.filter((task) => task.stalled);
  return stalled.length > 0 ? stalled : running;
}

/** Returns the ids of the operations to blame if the worker exits now. */
export function suspectsById(running: readonly Task[]): RunningOperations {
  const ids = (ofSpeech: boolean) =>
    suspects(running)
      .filter(({ operation }) => (modelOf(operation) !== null) === ofSpeech)
      .map(({ id }) => id);
  return { speech: ids(true), others: ids(false) };
}

/**
 * Counts a worker's exit against the operations that may have caused it; counts nothing when the GPU failed.
 * @param interrupted the operations that the worker was running
 */
export function countExit(interrupted: readonly Task[], { signal, gpuFailure }: UnexpectedExit, log: Logger): void {
  for (const task of suspects(interrupted)) {
    if (task.cancelled) continue;
    if (gpuFailure !== undefined) {
      recordInterruption(task, "gpu failed", log);
      continue;
    }
    // No code raises SIGKILL on itself: the sender is the kernel (out of memory), a person or the watchdog.
    const wasKilled = signal === "SIGKILL" && !task.stalled;
    if (wasKilled) task.kills += 1;
    else task.crashes += 1;
    recordInterruption(task, wasKilled ? "killed" : "crashed", log);
  }
}

/** Notifies the caller's record, if there is one. A record that cannot be stored is logged. */
export function recordInterruption(
  { record }: Pick<Task, "record">,
  cause: Parameters<AttemptRecord["onInterrupted"]>[0],
  log: Logger,
): void {
  try {
    record?.onInterrupted(cause);
  } catch (error) {
    // The in-memory counters are updated even when the record cannot be stored.
    log.error({ event: "engine.crash_not_recorded", trouble: messageOf(error) });
  }
}

/** Returns whether the next attempt is the last one, which runs with no other operation in the same worker. */
export function runsAlone({ crashes, kills }: Task): boolean {
  return crashes + kills >= MAX_ATTEMPTS - 1;
}

/** Returns the error of a live operation whose worker exited. */
export function interruptedError({ operation }: Task): EngineCrashError {
  return new EngineCrashError(`the worker exited while running ${operation.name}`);
}

/** Returns the error of an operation that has no attempt left; null when another attempt remains. */
export function finalError({
  operation,
  crashes,
  kills,
  stalled,
}: Pick<Task, "crashes" | "kills" | "stalled"> & {
  readonly operation: Pick<Task["operation"], "name">;
}): EngineCrashError | null {
  const failed = (count: number, how: string) => `the worker ${how} ${count} times while running ${operation.name}`;
  if (crashes >= MAX_ATTEMPTS) {
    const message = failed(crashes, "crashed or was stuck");
    return stalled ? new EngineStalledError(message) : new EngineCrashError(message);
  }
  return kills >= MAX_ATTEMPTS ? new EngineKilledError(failed(kills, "was killed from outside")) : null;
}
