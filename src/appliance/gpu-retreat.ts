import type { WorkerDeath } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** What a worker may do on a GPU. */
interface GpuUse {
  /** File name of the backend; null: it computes on the CPU. */
  readonly library: string | null;
  /** Operations at once. */
  readonly lanes: number;
}

/** As many as recordings are worked on by default. Between two of one recording the GPU would wait for the CPU. */
const lanesOnGpu = 5;
const fewerLanesOnGpu = 2;

/** Signals that native code brings upon itself; an illegal instruction is the CPU variant's. */
const crashes = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGTRAP"];

/**
 * Draws back from a GPU that fails at work, for as long as the program runs: where memory may have been short, to
 * fewer operations at once, once; else, and the next time, to the next backend.
 */
export class GpuRetreat {
  readonly #log: Logger;
  readonly #without = new Set<string>();
  #library: string | null = null;
  #lanes = lanesOnGpu;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether a backend still comes into question. */
  readonly allows = (library: string): boolean => !this.#without.has(library);

  /** What the next worker computes with. @param library the one that was chosen */
  use(library: string | null): GpuUse {
    if (library !== this.#library) this.#lanes = lanesOnGpu;
    this.#library = library;
    return { library, lanes: library === null ? 1 : this.#lanes };
  }

  /** Takes note of how a worker ended. */
  after(death: WorkerDeath): void {
    const library = this.#library;
    if (library === null) return;
    const { gpuFailure, signal, stalled } = death;
    const crashed = crashes.includes(signal ?? "");
    if (gpuFailure === undefined && stalled !== true && !crashed) return;
    const reason = gpuFailure?.message ?? (stalled === true ? "it came to no end" : `the worker ended with ${signal}`);
    // CUDA's backend ends the process where memory is short.
    if ((gpuFailure?.outOfMemory === true || crashed) && this.#lanes > fewerLanesOnGpu) {
      this.#lanes = fewerLanesOnGpu;
      this.#log.error({ event: "engine.gpu_gets_less", library, lanes: this.#lanes, reason });
      return;
    }
    this.#without.add(library);
    this.#log.error({ event: "engine.gpu_left_out", library, reason, until: "the next start of the server" });
  }
}
