import type { Gpu, GpuMemory, WorkerRole } from "../operations/index.ts";
import type { DecoderStatus } from "./decoder-count.ts";
import type { UnexpectedExit } from "./worker-exit.ts";
import type { WorkerProcess } from "./worker-process.ts";

/**
 * State of a worker, as it is reported. `asleep`: there is no process, because the engine was idle for long. `waking`:
 * the process is being started again after sleep, or replaced by a new one, and no failure is expected.
 */
export type WorkerState = "starting" | "ready" | "asleep" | "waking" | "failing" | "closed";

/** The status of a worker. */
export interface WorkerStatus {
  readonly state: WorkerState;
  /** Why the worker is not ready, or which operation takes far too long. */
  readonly trouble: string | null;
  /** Number of unexpected exits. */
  readonly restarts: number;
  readonly pid: number | null;
  /** The operations that the worker runs; null: all. */
  readonly role: WorkerRole | null;
  /** Number of operations that it runs at the same time. */
  readonly lanes: number;
  /** Number of them whose texts are decoded together; 1: each decodes alone. */
  readonly decoderSlots: number;
  readonly decoder: DecoderStatus;
  /** The worker's GPU; null when it has none or has not been started yet. */
  readonly gpu: Gpu | null;
  /** The GPU's memory as the worker reported it last; null when there is no process. */
  readonly gpuMemory: GpuMemory | null;
}

/** Current activity of a worker. Every state with a process ends with that process's exit. */
export type State =
  /** `prepare` is running, or the next start waits for its time. */
  | { readonly name: "preparing"; readonly reported: StartState; readonly restartTimer: NodeJS.Timeout | null }
  /** The process loads its models. */
  | {
      readonly name: "loading";
      readonly reported: StartState;
      readonly child: WorkerProcess;
      readonly killedFor: KillReasons;
    }
  | {
      readonly name: "ready";
      readonly child: WorkerProcess;
      readonly speechDevice: string;
      readonly gpuMemory: GpuMemory | null;
      readonly killedFor: KillReasons;
    }
  /** The process was killed because it is to be replaced; it runs nothing. */
  | { readonly name: "renewing"; readonly child: WorkerProcess }
  /** The process was killed because the engine is idle. */
  | { readonly name: "fallingAsleep"; readonly child: WorkerProcess; readonly isWoken: boolean }
  | { readonly name: "asleep" }
  | { readonly name: "closed"; readonly child: WorkerProcess | null };

/** Why the process is being killed, where its GPU failed or it was stuck. */
export type KillReasons = Pick<UnexpectedExit, "gpuFailure" | "stalled">;

type StartState = Extract<WorkerState, "starting" | "waking" | "failing">;

/** Returns the state to report after the process exited. */
export function stateAfter(before: State): StartState {
  const isExpected = before.name === "fallingAsleep" || before.name === "renewing";
  return isExpected || (before.name === "loading" && before.reported === "waking") ? "waking" : "starting";
}

/** Returns the state that `status` reports. */
export function reportedState(state: State): WorkerState {
  switch (state.name) {
    case "preparing":
    case "loading":
      return state.reported;
    case "renewing":
      return "ready";
    case "fallingAsleep":
      return state.isWoken ? "waking" : "asleep";
    default:
      return state.name;
  }
}
