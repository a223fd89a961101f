import { GpuError } from "./gpu-error.ts";
import type { ModelPool } from "./model-pool.ts";
import type { EncoderOptions, WhisperState } from "./recognizer/whisper/index.ts";

/** The whisper models at work, where what the GPU fails with is told apart from all else. */
export class Speech {
  readonly #models: ModelPool;
  readonly #usesGpu: boolean;

  constructor(models: ModelPool, usesGpu: boolean) {
    this.#models = models;
    this.#usesGpu = usesGpu;
  }

  /** Loads the model to begin with. @throws {GpuError} where a GPU is used: what is wrong with the file shows on the CPU too */
  begin(path: string): void {
    try {
      this.#models.load(path);
    } catch (error) {
      throw this.#usesGpu ? new GpuError(error) : error;
    }
  }

  /**
   * Runs a job with a working memory of the model, which is loaded before if need be.
   * @param encoder encodes in place of the model's own, but of a GPU's, which is faster by far
   * @throws {GpuError} what the GPU failed with
   */
  async use<T>(
    path: string,
    signal: AbortSignal,
    job: (state: WhisperState) => Promise<T>,
    encoder?: EncoderOptions,
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.#usesGpu) return await this.#models.use(path, signal, job, encoder);
    this.#load(path);
    try {
      return await this.#models.use(path, signal, job);
    } catch (error) {
      // What is asked wrongly fails on the CPU too.
      throw signal.aborted || error instanceof RangeError ? error : new GpuError(error);
    }
  }

  /** The file may be at fault as well, and says nothing of the GPU then. */
  #load(path: string): void {
    try {
      this.#models.load(path);
    } catch (error) {
      const failure = new GpuError(error);
      throw failure.failure.outOfMemory ? failure : error;
    }
  }
}
