import { GpuError } from "./gpu-error.ts";
import type { ModelPool } from "./model-pool.ts";
import type { EncoderOptions, Recognizer } from "./recognizer/index.ts";

/** Runs jobs on speech models and separates failures of the GPU from all other errors. */
export class Speech {
  readonly #models: ModelPool;
  readonly #usesGpu: boolean;

  constructor(models: ModelPool, usesGpu: boolean) {
    this.#models = models;
    this.#usesGpu = usesGpu;
  }

  /** Loads the first model. @throws {GpuError} when a GPU is used: a damaged file fails on the CPU again */
  begin(path: string): void {
    try {
      this.#models.load(path);
    } catch (error) {
      throw this.#usesGpu ? new GpuError(error) : error;
    }
  }

  /**
   * Runs a job with a recognizer of the model, which is loaded first if needed.
   * @param encoder replaces the model's own encoder on the CPU; ignored on a GPU, whose own encoder is far faster
   * @throws {GpuError} when the GPU fails
   */
  async use<T>(
    path: string,
    signal: AbortSignal,
    job: (recognizer: Recognizer) => Promise<T>,
    encoder?: EncoderOptions,
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.#usesGpu) return await this.#models.use(path, signal, job, encoder);
    this.#load(path);
    try {
      return await this.#models.use(path, signal, job);
    } catch (error) {
      // Invalid arguments fail on the CPU too.
      throw signal.aborted || error instanceof RangeError ? error : new GpuError(error);
    }
  }

  /** Loads a model. Only a lack of memory counts as a GPU failure here, because the file may be damaged instead. */
  #load(path: string): void {
    try {
      this.#models.load(path);
    } catch (error) {
      const failure = new GpuError(error);
      throw failure.failure.outOfMemory ? failure : error;
    }
  }
}
