import { memoryKills } from "../machine/index.ts";
import type { CompletedOperation, WorkerStart } from "../operations/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { TimeLimits } from "./time-limits.ts";
import type { UnexpectedExit } from "./worker-exit.ts";

export interface EngineOptions {
  /** Command line that starts a worker. */
  readonly command: readonly string[];
  /**
   * Returns what the workers load: one `WorkerStart` for the only worker, or one for each GPU. The engine calls it
   * before each start of a worker and passes how the previous one exited. It can then leave out a CPU variant or a GPU.
   * The signal is aborted when the engine is closed.
   */
  readonly prepare: (
    exit: UnexpectedExit | null,
    signal: AbortSignal,
  ) => Promise<readonly [WorkerStart, ...WorkerStart[]]>;
  readonly log: Logger;
  /** Called for each completed operation except self-tests. */
  readonly onCompletion?: (completed: CompletedOperation) => void;
  readonly onUnexpectedExit?: (exit: UnexpectedExit) => void;
  /** Returns how many processes of this program's container or service the kernel has killed for lack of memory. */
  readonly memoryKills?: () => number;
  /** Returns the memory that there is and that is needed, for people. Called after the kernel killed a worker. */
  readonly memoryShortage?: () => string;
  /** Called when an operation other than a self-test is requested, or expected soon. */
  readonly onUse?: () => void;
  /** Delay before the next start, given the number of consecutive failed starts. */
  readonly restartDelayMilliseconds?: (failures: number) => number;
  /** How long the engine may be idle before it ends its workers until the next operation; 0 disables this. */
  readonly idleMilliseconds?: () => number;
  /** How long a killed worker may take to exit: freeing a GPU's memory takes a while. */
  readonly killMilliseconds?: number;
  /** Time limits of a worker's start and of its operations. */
  readonly timeLimits?: TimeLimits;
  /** Interval of the checks for stuck operations and for idleness. */
  readonly checkMilliseconds?: number;
}

export type ResolvedOptions = Required<EngineOptions>;

/** Returns the options with their defaults filled in. */
export function withDefaults(options: EngineOptions): ResolvedOptions {
  return {
    onCompletion: () => {},
    onUnexpectedExit: () => {},
    memoryKills,
    memoryShortage: () => "memory was short",
    onUse: () => {},
    restartDelayMilliseconds: (failures) => Math.min(30_000, 500 * 2 ** (failures - 1)),
    idleMilliseconds: () => 0,
    killMilliseconds: 10_000,
    timeLimits: new TimeLimits(),
    checkMilliseconds: 1000,
    ...options,
  };
}
