import type { Operation } from "./time-limits.ts";

/**
 * What whoever asks for an operation remembers of it, longer than a program runs: how many workers have died of it. It is
 * told of each new try as it begins, and of each that ends with the worker.
 */
export interface Tries {
  /** Workers that died of it, in earlier runs of the program too. */
  readonly deaths: number;
  /** A worker is given it now. @throws what the operation is to fail with */
  begins(): void;
  /** The worker died of it, or was killed from outside while it was at it, or was ended because its GPU failed. */
  died(death: "of itself" | "killed" | "of the GPU"): void;
}

/** An operation that was asked for and is not done. */
export interface Task {
  readonly id: number;
  readonly operation: Omit<Operation, "speechDevice">;
  readonly tries: Tries | null;
  readonly settle: (outcome: { result: unknown } | { error: Error }) => void;
  /** When the worker was given it, in milliseconds. */
  startedAt: number;
  /** Workers that died of it, those included that were ended because they came to no end with it. */
  deaths: number;
  /** Workers that were killed from outside while they were at it: for want of memory, or by chance. */
  kills: number;
  /** The worker that has it is being ended, since it comes to no end with it. */
  stalled: boolean;
  /** Its caller has gone; the worker's answer only frees the lane. */
  abandoned: boolean;
}
