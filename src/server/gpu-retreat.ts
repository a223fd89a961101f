import type { WorkerDeath } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { mayBeDriversCrash, reasonOfEnd } from "./worker-end.ts";

/** As many as recordings that are worked on by default: between two operations of one recording the GPU would be idle. */
const lanesOnGpu = 5;
const fewerLanesOnGpu = 2;

/**
 * Gives up GPUs that fail at work, step by step, for as long as the program runs. Where memory may have been short, a GPU is
 * given fewer operations at once; otherwise, and if it fails again, the next backend that drives it is used, or the other
 * GPUs. GPUs go by their labels, which also name the backend.
 */
export class GpuRetreat {
  readonly #log: Logger;
  readonly #without = new Set<string>();
  readonly #withFewerLanes = new Set<string>();
  /** For each GPU that was blamed: for each time, the operations that may have been the culprit in its place. */
  readonly #suspects = new Map<string, (readonly number[])[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether a GPU may still be used. */
  readonly allows = (gpu: string): boolean => !this.#without.has(gpu);

  /** How many operations a GPU is given at once. */
  lanesOf(gpu: string): number {
    return this.#withFewerLanes.has(gpu) ? fewerLanesOnGpu : lanesOnGpu;
  }

  /** Learns how a worker ended. */
  after(death: WorkerDeath): void {
    const { gpu, gpuFailure, stalled, at = { speech: [], others: [] } } = death;
    const crashed = mayBeDriversCrash(death);
    if (gpuFailure === undefined && stalled !== true && !crashed) return;
    const operations = [...at.speech, ...at.others];
    const isOfOthers = at.speech.length === 0 && at.others.length > 0;
    if (gpuFailure === undefined && (gpu === undefined || isOfOthers)) {
      // That was no GPU's fault.
      if (operations.length === 1) this.#acquitOf(operations);
      return;
    }
    if (gpu === undefined) return;
    const reason = reasonOfEnd(death);
    const suspects = gpuFailure === undefined ? operations : [];
    this.#suspects.set(gpu, [...(this.#suspects.get(gpu) ?? []), suspects]);
    // CUDA's backend ends the process when memory is short.
    if ((gpuFailure?.outOfMemory === true || crashed) && !this.#withFewerLanes.has(gpu)) {
      this.#withFewerLanes.add(gpu);
      this.#log.error({ event: "engine.gpu_gets_less", gpu, lanes: fewerLanesOnGpu, reason });
      return;
    }
    this.#without.add(gpu);
    this.#log.error({ event: "engine.gpu_left_out", gpu, reason, until: "the next start of the server" });
  }

  /** An operation has ended a worker by itself, so it may also have caused each end that a GPU was blamed for. */
  #acquitOf([culprit]: readonly number[]): void {
    for (const [gpu, ends] of this.#suspects) {
      if (culprit === undefined || !ends.every((suspects) => suspects.includes(culprit))) continue;
      this.#suspects.delete(gpu);
      this.#without.delete(gpu);
      this.#withFewerLanes.delete(gpu);
      this.#log.warn({
        event: "engine.gpu_taken_back",
        gpu,
        reason: "what it was left out for had nothing to do with it",
      });
    }
  }
}
