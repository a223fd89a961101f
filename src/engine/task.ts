import type { Operation } from "./time-limits.ts";

/** What is known of earlier tries of an operation, by whoever keeps it; told as the operation is tried. */
export interface Tries {
  /** Workers that died of it, in earlier runs of the program too. */
  readonly deaths: number;
  /** A worker is given it now. @throws what the operation is to fail with */
  begins(): void;
  /** The worker died of it. */
  died(): void;
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
  /** It went on for so long that its worker was ended. */
  stalled: boolean;
  /** Its caller has gone; the worker's answer only frees the lane. */
  abandoned: boolean;
}

/** Deaths at one operation after which it is given up; the last try has the worker to itself. */
export const maxDeaths = 3;

/** Whether it has killed so often that it may not run beside others. */
export function isSuspect(task: Task): boolean {
  return task.deaths >= maxDeaths - 1;
}
