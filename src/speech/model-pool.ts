import type { DecoderWork } from "../operations/index.ts";
import { GpuError } from "./gpu-error.ts";
import type { EncoderOptions, Recognizer, RecognizerModel } from "./recognizer/index.ts";

/**
 * What a recognizer is for. Live sessions have recognizers of their own on the CPU: data that a short pass leaves in one
 * would change the words of recordings. On a GPU, each pass computes the whole window.
 */
export type RecognizerUse = "recordings" | "live";

interface IdleRecognizer {
  readonly recognizer: Recognizer;
  /** Path of its encoder. */
  readonly encoder: string | undefined;
  readonly use: RecognizerUse;
}

interface LoadedModel {
  readonly model: RecognizerModel;
  /** Unused recognizers (about 80 MB each for Whisper base), kept for reuse. */
  idle: IdleRecognizer[];
  /** Encoder of the latest job for a recording. */
  encoder: EncoderOptions | undefined;
  users: number;
  /** Whether the model is freed as soon as its last user has finished. */
  unwanted: boolean;
}

/**
 * The speech models of this process, by path: loaded at first use, freed when `keepOnly` no longer lists them. When
 * memory is short, unused models are freed first. Failures of the GPU have their own class.
 */
export class ModelPool {
  readonly #open: (path: string) => RecognizerModel;
  readonly #usesGpu: boolean;
  readonly #loaded = new Map<string, LoadedModel>();
  /** Work of the models that were freed. */
  #freedWork: DecoderWork = { steps: 0, rows: 0 };

  constructor(open: (path: string) => RecognizerModel, usesGpu: boolean) {
    this.#open = open;
    this.#usesGpu = usesGpu;
  }

  /** Loads the first model. @throws {GpuError} when a GPU is used: a damaged file fails on the CPU again */
  loadFirst(path: string): void {
    this.#load(path, () => true);
  }

  /**
   * Runs a job with a recognizer of the model.
   * @param encoder replaces the model's own encoder on the CPU, which is the fallback when it cannot be used; ignored
   *   on a GPU, whose own encoder is far faster
   * @param use of the recognizer; ignored on a GPU
   * @throws {GpuError} when the GPU fails; the signal's reason when it is aborted before the job starts
   */
  async use<T>(
    path: string,
    signal: AbortSignal,
    job: (recognizer: Recognizer) => Promise<T>,
    encoder?: EncoderOptions,
    use: RecognizerUse = "recordings",
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.#usesGpu) return await this.#run(path, signal, job, encoder, use);
    // The file may be damaged, so that only a lack of memory counts as a failure of the GPU.
    this.#load(path, ({ failure }) => failure.outOfMemory);
    try {
      return await this.#run(path, signal, job);
    } catch (error) {
      // Invalid arguments fail on the CPU too.
      throw signal.aborted || error instanceof RangeError ? error : new GpuError(error);
    }
  }

  #load(path: string, isOfGpu: (error: GpuError) => boolean): void {
    try {
      this.#get(path);
    } catch (error) {
      const ofGpu = new GpuError(error);
      throw this.#usesGpu && isOfGpu(ofGpu) ? ofGpu : error;
    }
  }

  async #run<T>(
    path: string,
    signal: AbortSignal,
    job: (recognizer: Recognizer) => Promise<T>,
    encoder?: EncoderOptions,
    use: RecognizerUse = "recordings",
  ): Promise<T> {
    const loaded = this.#get(path);
    loaded.unwanted = false;
    if (use === "recordings") loaded.encoder = encoder;
    loaded.users += 1;
    try {
      const recognizer = this.#takeRecognizer(path, loaded, encoder, use);
      const abort = () => recognizer.abort();
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await job(recognizer);
      } finally {
        signal.removeEventListener("abort", abort);
        loaded.idle.push({ recognizer, encoder: encoder?.path, use });
      }
    } finally {
      loaded.users -= 1;
      if (loaded.unwanted) this.#freeIfIdle(path, loaded);
    }
  }

  /** Returns the encoder of a model's latest job for a recording, with which another job needs no further recognizer. */
  latestEncoderOf(path: string): EncoderOptions | undefined {
    return this.#loaded.get(path)?.encoder;
  }

  /** Returns the work of all models' decoders in slots since this process started. */
  decoderWork(): DecoderWork {
    return [...this.#loaded.values()].map(({ model }) => model.decoderWork()).reduce(sumOf, this.#freedWork);
  }

  /** Frees all other models; those in use are freed as soon as their jobs finish. */
  keepOnly(paths: readonly string[]): void {
    for (const [path, loaded] of this.#loaded) {
      loaded.unwanted = !paths.includes(path);
      if (loaded.unwanted) this.#freeIfIdle(path, loaded);
    }
  }

  #get(path: string): LoadedModel {
    const known = this.#loaded.get(path);
    if (known !== undefined) return known;
    const model = this.#retryAfterFreeing(path, () => this.#open(path));
    const loaded: LoadedModel = { model, idle: [], encoder: undefined, users: 0, unwanted: false };
    this.#loaded.set(path, loaded);
    return loaded;
  }

  #takeRecognizer(
    path: string,
    loaded: LoadedModel,
    encoder: EncoderOptions | undefined,
    use: RecognizerUse,
  ): Recognizer {
    const index = loaded.idle.findIndex((idle) => idle.use === use && idle.encoder === encoder?.path);
    const [known] = index === -1 ? [] : loaded.idle.splice(index, 1);
    if (known !== undefined) return known.recognizer;
    // A recognizer with another encoder would only take memory.
    const unusable = loaded.idle.filter((idle) => idle.use === use);
    loaded.idle = loaded.idle.filter((idle) => idle.use !== use);
    for (const { recognizer } of unusable) recognizer.dispose();
    try {
      return this.#retryAfterFreeing(path, () => loaded.model.createRecognizer(encoder));
    } catch (error) {
      if (encoder === undefined) throw error;
      return loaded.model.createRecognizer();
    }
  }

  /** Retries a failed allocation after freeing all other unused models, which are loaded again at their next use. */
  #retryAfterFreeing<T>(path: string, make: () => T): T {
    try {
      return make();
    } catch (error) {
      const before = this.#loaded.size;
      for (const [other, loaded] of this.#loaded) if (other !== path) this.#freeIfIdle(other, loaded);
      if (this.#loaded.size === before) throw error;
      return make();
    }
  }

  #freeIfIdle(path: string, loaded: LoadedModel): void {
    if (loaded.users > 0) return;
    this.#loaded.delete(path);
    this.#freedWork = sumOf(this.#freedWork, loaded.model.decoderWork());
    for (const { recognizer } of loaded.idle) recognizer.dispose();
    loaded.model.dispose();
  }
}

function sumOf(a: DecoderWork, b: DecoderWork): DecoderWork {
  return { steps: a.steps + b.steps, rows: a.rows + b.rows };
}
