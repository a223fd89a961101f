import type { WorkerDeath } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { nativeCrashes } from "./native-crashes.ts";

/** As many as recordings are worked on by default. Between two of one recording the GPU would wait for the CPU. */
const lanesOnGpu = 5;
const fewerLanesOnGpu = 2;

/**
 * Draws back from a GPU that fails at work, for as long as the program runs: where memory may have been short, to
 * fewer operations at once, once; else, and the next time, to the next backend that drives it, or to the other GPUs. GPUs go
 * by their labels, which name the backend, too.
 */
export class GpuRetreat {
  readonly #log: Logger;
  readonly #without = new Set<string>();
  readonly #withFewerLanes = new Set<string>();
  /** Of each GPU that something is laid on: for each time the operations that may have been it in the GPU's place. */
  readonly #suspects = new Map<string, (readonly number[])[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether a GPU still comes into question. */
  readonly allows = (gpu: string): boolean => !this.#without.has(gpu);

  /** How many operations it is given at once. */
  lanesOf(gpu: string): number {
    return this.#withFewerLanes.has(gpu) ? fewerLanesOnGpu : lanesOnGpu;
  }

  /** Takes note of how a worker ended. */
  after(death: WorkerDeath): void {
    const { gpu, gpuFailure, signal, stalled, at = { speech: [], others: [] } } = death;
    const crashed = nativeCrashes.has(signal ?? "");
    if (gpuFailure === undefined && stalled !== true && !crashed) return;
    const operations = [...at.speech, ...at.others];
    const isOfOthers = at.speech.length === 0 && at.others.length > 0;
    if (gpuFailure === undefined && (gpu === undefined || isOfOthers)) {
      // No GPU has a part in that.
      if (operations.length === 1) this.#acquitOf(operations);
      return;
    }
    if (gpu === undefined) return;
    const reason = gpuFailure?.message ?? (stalled === true ? "it came to no end" : `the worker ended with ${signal}`);
    const suspects = gpuFailure === undefined ? operations : [];
    this.#suspects.set(gpu, [...(this.#suspects.get(gpu) ?? []), suspects]);
    // CUDA's backend ends the process where memory is short.
    if ((gpuFailure?.outOfMemory === true || crashed) && !this.#withFewerLanes.has(gpu)) {
      this.#withFewerLanes.add(gpu);
      this.#log.error({ event: "engine.gpu_gets_less", gpu, lanes: fewerLanesOnGpu, reason });
      return;
    }
    this.#without.add(gpu);
    this.#log.error({ event: "engine.gpu_left_out", gpu, reason, until: "the next start of the server" });
  }

  /** An operation ended a worker with nothing beside it: so it may have all those whose end is laid on GPUs, too. */
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
