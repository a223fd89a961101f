import type { Logger } from "../telemetry/index.ts";
import type { CompletedOperation } from "./completed-operation.ts";
import type { GpuFailure, Start } from "./protocol.ts";
import type { TimeLimits } from "./time-limits.ts";

export interface EngineOptions {
  /** Command line that starts a worker. */
  readonly command: readonly string[];
  /**
   * Returns what the workers load: one `Start` for the only worker, or one for each GPU. The engine calls it before
   * each start of a worker and passes how the previous one exited. It can then leave out a CPU variant or a GPU. The
   * signal is aborted when the engine is closed.
   */
  readonly prepare: (death: UnexpectedExit | null, signal: AbortSignal) => Promise<readonly [Start, ...Start[]]>;
  readonly log: Logger;
  /** Called for each completed operation except self-tests. */
  readonly onCompletion?: (work: CompletedOperation) => void;
  /** Called for each worker that exited without being told to. */
  readonly onUnexpectedExit?: (how: UnexpectedExit) => void;
  /** Delay before the next start, given the number of consecutive failed starts. */
  readonly restartDelayMilliseconds?: (failures: number) => number;
  /** How long the engine may be idle before it ends its workers until the next operation; 0 disables this. */
  readonly idleMilliseconds?: () => number;
  /** How long a killed worker may take to exit. */
  readonly killMilliseconds?: number;
  /** Time limits of a worker's start and of its operations. */
  readonly timeLimits?: TimeLimits;
  /** Interval of the checks for stuck operations and for idleness. */
  readonly checkMilliseconds?: number;
}

/** The engine's options with their defaults filled in, as each worker receives them. */
export type WorkerOptions = EngineOptions & Required<Pick<EngineOptions, "timeLimits" | "checkMilliseconds">>;

/** The operations that a worker is running, by their ids. */
export interface RunningOperations {
  /** Operations that run the recognizer, on the GPU where there is one. */
  readonly speech: readonly number[];
  /** All other operations. */
  readonly others: readonly number[];
}

/** How a worker exited. */
export interface UnexpectedExit {
  /** Label of the worker's GPU, where the worker has one. */
  readonly gpu?: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The GPU's error, where the worker was killed because of it. */
  readonly gpuFailure?: GpuFailure;
  /** Set when the process hangs in a driver, where no signal ends it: it may still exist. */
  readonly leftBehind?: true;
  /** Set when the worker was killed because it was stuck. */
  readonly stalled?: true;
  /** The operations that may have caused the exit. They keep their ids when they are retried. */
  readonly running?: RunningOperations;
}
