import type { Logger } from "../telemetry/index.ts";
import type { GpuFailure, Start } from "./protocol.ts";
import type { TimeLimits } from "./time-limits.ts";
import type { WorkDone } from "./work-done.ts";

export interface EngineOptions {
  /** Command line that starts a worker. */
  readonly command: readonly string[];
  /**
   * Says what the workers shall load: one worker, or one for each GPU. It is asked before each start of a worker, and told how
   * the one before ended, so that it can leave out a CPU variant or a GPU. The signal is aborted when the engine is closed.
   */
  readonly prepare: (death: WorkerDeath | null, signal: AbortSignal) => Promise<readonly [Start, ...Start[]]>;
  readonly log: Logger;
  /** Called for each operation that was done. */
  readonly onWork?: (work: WorkDone) => void;
  /** Called for each worker that ended unasked. */
  readonly onWorkerDeath?: (how: WorkerDeath) => void;
  /** How long to wait before another start after so many that failed in a row. */
  readonly restartDelayMilliseconds?: (failures: number) => number;
  /** How long the workers may have nothing to do before they are ended until there is something again; 0: for ever. */
  readonly idleMilliseconds?: () => number;
  /** How long a worker that was killed may take to be gone. */
  readonly endingMilliseconds?: number;
  /** How long a worker may take for what it is told to do. */
  readonly timeLimits?: TimeLimits;
  /** How often to look whether a worker takes longer, or the engine has nothing to do. */
  readonly lookMilliseconds?: number;
}

/** The engine's options with their defaults filled in, as its workers get them. */
export type WorkerOptions = EngineOptions & Required<Pick<EngineOptions, "timeLimits" | "lookMilliseconds">>;

/** The operations that a worker is working on, by their numbers. */
export interface OperationsAtWork {
  /** Whisper's, which compute on the GPU where there is one. */
  readonly speech: readonly number[];
  /** All others. */
  readonly others: readonly number[];
}

/** How a worker ended. */
export interface WorkerDeath {
  /** The label of the GPU that it was for, where it was for one. */
  readonly gpu?: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** What the GPU failed with, where the worker was ended for that. */
  readonly gpuFailure?: GpuFailure;
  /** It hangs in a driver, where no signal ends it: it may be there still. */
  readonly leftBehind?: true;
  /** It was ended because it came to no end. */
  readonly stalled?: true;
  /** The operations that may have ended it. They keep their numbers when they are tried again. */
  readonly at?: OperationsAtWork;
}
