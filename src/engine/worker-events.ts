import type { FromWorker, WorkerStart } from "../operations/index.ts";
import type { Task } from "./task.ts";
import type { UnexpectedExit } from "./worker-exit.ts";

/** The worker's answer to an operation. */
export type Answer = Extract<FromWorker, { type: "done" | "failed" }>;

export interface WorkerEvents {
  /**
   * Returns what the worker loads at its next start; null when the worker is no longer needed and was closed.
   * @param exit how the previous process exited; null for the first process, and after an expected exit
   */
  prepare(exit: UnexpectedExit | null, signal: AbortSignal): Promise<WorkerStart | null>;
  /** Called when the worker starts to accept operations. */
  onReady(): void;
  /**
   * Called when the worker has finished an operation and can take another.
   * @param task the operation; null when it is no longer known
   */
  onAnswer(task: Task | null, answer: Answer): void;
  /**
   * Called when the worker exited unexpectedly.
   * @param interrupted the operations that it was running
   * @param trouble the reason, for people
   */
  onUnexpectedExit(interrupted: Task[], exit: UnexpectedExit, trouble: string): void;
}
