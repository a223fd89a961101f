import { isCrashSignal, type UnexpectedExit } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { UNMEASURED_GPU_LANES } from "./lane-shares.ts";

const fewerLanesOnGpu = 2;

/**
 * Fallback for GPUs that fail at work, until the program exits. If memory may have been short, the GPU gets fewer
 * operations at once. Otherwise, and after another failure, the next backend for it is used, or the other GPUs. GPUs
 * are identified by their labels, which include the backend.
 */
export class GpuFallback {
  readonly #log: Logger;
  readonly #without = new Set<string>();
  readonly #withFewerLanes = new Set<string>();
  /** For each blamed GPU and each of its failures: the operations that may have caused the failure instead. */
  readonly #suspects = new Map<string, (readonly number[])[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Reports whether a GPU may still be used. */
  readonly allows = (gpu: string): boolean => !this.#without.has(gpu);

  /** Returns how many operations a GPU gets at once. @param chosen the number by setting or measurement, if there is one */
  lanesOf(gpu: string, chosen = UNMEASURED_GPU_LANES): number {
    return this.#withFewerLanes.has(gpu) ? Math.min(fewerLanesOnGpu, chosen) : chosen;
  }

  /** Handles the end of a worker. */
  after(exit: UnexpectedExit): void {
    const { gpu, gpuFailure, stalled, running = { speech: [], others: [] } } = exit;
    const crashed = mayBeDriversCrash(exit);
    if (gpuFailure === undefined && stalled !== true && !crashed) return;
    const operations = [...running.speech, ...running.others];
    const isOfOthers = running.speech.length === 0 && running.others.length > 0;
    if (gpuFailure === undefined && (gpu === undefined || isOfOthers)) {
      // Not a GPU's fault.
      if (operations.length === 1) this.#clear(operations);
      return;
    }
    if (gpu === undefined) return;
    const reason = reasonOfExit(exit);
    const suspects = gpuFailure === undefined ? operations : [];
    this.#suspects.set(gpu, [...(this.#suspects.get(gpu) ?? []), suspects]);
    // CUDA's backend terminates the process if memory is short.
    if ((gpuFailure?.outOfMemory === true || crashed) && !this.#withFewerLanes.has(gpu)) {
      this.#withFewerLanes.add(gpu);
      this.#log.error({ event: "engine.gpu_gets_less", gpu, lanes: fewerLanesOnGpu, reason });
      return;
    }
    this.#without.add(gpu);
    this.#log.error({ event: "engine.gpu_left_out", gpu, reason, until: "the next start of the server" });
  }

  /**
   * Restores GPUs that are no longer suspect: an operation that ended a worker without a GPU may have caused each
   * failure.
   */
  #clear([culprit]: readonly number[]): void {
    for (const [gpu, ends] of this.#suspects) {
      if (culprit === undefined || !ends.every((suspects) => suspects.includes(culprit))) continue;
      this.#suspects.delete(gpu);
      this.#without.delete(gpu);
      this.#withFewerLanes.delete(gpu);
      this.#log.warn({
        event: "engine.gpu_taken_back",
        gpu,
        reason: "its failures had another cause",
      });
    }
  }
}

/** Reports whether a GPU's driver may have caused a crash; an illegal instruction is the CPU variant's fault. */
function mayBeDriversCrash({ signal }: UnexpectedExit): boolean {
  return signal !== null && signal !== "SIGILL" && isCrashSignal(signal);
}

/** Returns the reason for a worker's end, for the log. */
export function reasonOfExit({ gpuFailure, stalled, killedForMemory, signal }: UnexpectedExit): string {
  if (gpuFailure !== undefined) return gpuFailure.message;
  if (stalled === true) return "it did not finish";
  return killedForMemory === true
    ? "the kernel ended the worker: memory was short"
    : `the worker exited with ${signal}`;
}
