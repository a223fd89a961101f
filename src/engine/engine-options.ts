import type { Logger } from "../telemetry/index.ts";
import type { GpuFailure, Start } from "./protocol.ts";
import type { TimeLimits } from "./time-limits.ts";
import type { WorkDone } from "./work-done.ts";

export interface EngineOptions {
  /** Command line that starts a worker. */
  readonly command: readonly string[];
  /**
   * What the workers shall load: one, or one for each GPU. It is asked before each start of a worker and told how that one
   * ended, so that a CPU variant or a GPU can be left out. The signal is aborted when the engine is closed meanwhile.
   */
  readonly prepare: (death: WorkerDeath | null, signal: AbortSignal) => Promise<readonly [Start, ...Start[]]>;
  /** Operations that a worker runs at once, where a start says nothing else. */
  readonly lanes: number;
  readonly log: Logger;
  /** Told of each operation that was done. */
  readonly onWork?: (work: WorkDone) => void;
  /** Told of each worker that ended unasked. */
  readonly onWorkerDeath?: (how: WorkerDeath) => void;
  /** Waits before a worker is started again after one that did not become ready, by number of tries. */
  readonly restartDelayMilliseconds?: (failures: number) => number;
  /** After how long of nothing to do the worker is ended, until there is something again; asked anew each time, 0: never. */
  readonly idleMilliseconds?: () => number;
  /** How long a worker may take to end. */
  readonly endingMilliseconds?: number;
  /** How long a worker may take for what it is told to do. */
  readonly timeLimits?: TimeLimits;
  /** How often is looked whether it takes longer, or has nothing to do. */
  readonly lookMilliseconds?: number;
}

/** What a worker is at. */
export interface OperationsAtWork {
  /** Whisper's, which compute on the GPU where there is one. */
  readonly speech: readonly number[];
  /** Those that whisper has no part in. */
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
  /** The operations that it may have been, by their numbers, which they keep when they are tried again. */
  readonly at?: OperationsAtWork;
}
