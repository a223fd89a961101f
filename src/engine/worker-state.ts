import type { Gpu, GpuMemory } from "./protocol.ts";
import type { WorkerProcess } from "./worker-process.ts";

/**
 * State of a worker, as it is reported. `asleep`: there is no process, because the engine was idle for long. `waking`:
 * the process is being started again, and no failure is expected.
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
  /** The worker's GPU; null when it has none or has not been started yet. */
  readonly gpu: Gpu | null;
  /** The GPU's memory as the worker reported it last; null when there is no process. */
  readonly gpuMemory: GpuMemory | null;
}

/** What a worker is doing. Every state with a process ends with that process's exit. */
export type State =
  /** `prepare` is running, or the next start waits for its time. */
  | { readonly name: "preparing"; readonly reported: StartState }
  /** The process loads its models. */
  | { readonly name: "loading"; readonly reported: StartState; readonly process: WorkerProcess }
  | { readonly name: "ready"; readonly process: WorkerProcess }
  /** The process was killed because it is to be replaced; it runs nothing. */
  | { readonly name: "renewing"; readonly process: WorkerProcess }
  /** The process was killed because the engine is idle. */
  | { readonly name: "fallingAsleep"; readonly process: WorkerProcess; readonly isWoken: boolean }
  | { readonly name: "asleep" }
  | { readonly name: "closed"; readonly process: WorkerProcess | null };

type StartState = Extract<WorkerState, "starting" | "waking" | "failing">;

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
