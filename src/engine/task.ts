import type { Operation } from "./time-limits.ts";

/**
 * A caller's record of an operation, which outlives the program: the number of workers that crashed at it. The engine
 * notifies it when an attempt starts, and when an attempt ends because the worker exited.
 */
export interface AttemptRecord {
  /** Number of worker crashes at this operation, including earlier runs of the program. */
  readonly crashes: number;
  /** Called when a worker is about to receive the operation. @throws the error that the operation then fails with */
  onStart(): void;
  /** Called when the worker crashed at the operation, was killed from outside, or was killed because its GPU failed. */
  onInterrupted(death: "crashed" | "killed" | "gpu failed"): void;
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
