import { EngineCrashError, EngineKilledError, EngineStalledError } from "./errors.ts";
import type { Operation } from "./time-limits.ts";

/** What is known of earlier tries of an operation, by whoever keeps it; told as the operation is tried. */
export interface Tries {
  /** Workers that died of it, in earlier runs of the program too. */
  readonly deaths: number;
  /** A worker is given it now. @throws what the operation is to fail with */
  begins(): void;
  /** The worker died of it, or was killed from outside while it was at it. */
  died(death: "of itself" | "killed"): void;
}

/** An operation that was asked for and is not done. */
export interface Task {
  readonly id: number;
  readonly operation: Omit<Operation, "speechDevice">;
  readonly tries: Tries | null;
  readonly settle: (outcome: { result: unknown } | { error: Error }) => void;
  /** When the worker was given it, in milliseconds. */
  startedAt: number;
  /** Workers that died of it. */
  deaths: number;
  /** Workers that were killed from outside while they were at it: for want of memory, or by chance. */
  kills: number;
  /** It went on for so long that its worker was ended. */
  stalled: boolean;
  /** Its caller has gone; the worker's answer only frees the lane. */
  abandoned: boolean;
}

/** Deaths at one operation after which it is given up, and kills after which it is given back; the last try has the worker to itself. */
const maxDeaths = 3;

/** Whether it has taken workers down so often that it may not run beside others. */
export function isSuspect({ deaths, kills }: Task): boolean {
  return deaths + kills >= maxDeaths - 1;
}

/** What it fails with after its last try; null while there is another. */
export function givenUp({ operation, deaths, kills, stalled }: Task): EngineCrashError | null {
  const times = (count: number) => `the worker died ${count} times at ${operation.name}`;
  if (deaths >= maxDeaths && stalled) return new EngineStalledError(`${times(deaths)}, having come to no end with it`);
  if (deaths >= maxDeaths) return new EngineCrashError(times(deaths));
  return kills >= maxDeaths ? new EngineKilledError(`${times(kills)}, killed from outside`) : null;
}
