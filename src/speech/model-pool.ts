import type { EncoderOptions, WhisperModel, WhisperState } from "./recognizer/whisper/index.ts";

interface LoadedModel {
  readonly model: WhisperModel;
  /** Unused states (working memory, about 200 MB each for base), kept for reuse, each with the path of its encoder. */
  readonly idle: { readonly state: WhisperState; readonly encoder: string | undefined }[];
  users: number;
  /** Whether the model is freed as soon as its last user has finished. */
  unwanted: boolean;
}

/** The speech models of this process, by path: loaded at first use, freed when `keepOnly` no longer lists them. */
export class ModelPool {
  readonly #open: (path: string) => WhisperModel;
  readonly #loaded = new Map<string, LoadedModel>();

  constructor(open: (path: string) => WhisperModel) {
    this.#open = open;
  }

  /**
   * Loads a model; when memory is short, frees unused models first.
   * @throws {Error} that says what is wrong with the model
   */
  load(path: string): void {
    this.#get(path);
  }

  /**
   * Runs a job with a state (working memory) of the model.
   * @param encoder replaces the model's own encoder; when it cannot be used, the model's own encoder is the fallback
   * @throws the signal's reason when it is aborted before the job starts
   */
  async use<T>(
    path: string,
    signal: AbortSignal,
    job: (state: WhisperState) => Promise<T>,
    encoder?: EncoderOptions,
  ): Promise<T> {
    signal.throwIfAborted();
    const loaded = this.#get(path);
    loaded.unwanted = false;
    loaded.users += 1;
    try {
      const state = this.#takeState(path, loaded, encoder);
      const abort = () => state.abort();
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await job(state);
      } finally {
        signal.removeEventListener("abort", abort);
        loaded.idle.push({ state, encoder: encoder?.path });
      }
    } finally {
      loaded.users -= 1;
      if (loaded.unwanted) this.#freeIfIdle(path, loaded);
    }
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
    const model = this.#makingRoom(path, () => this.#open(path));
    const loaded = { model, idle: [], users: 0, unwanted: false };
    this.#loaded.set(path, loaded);
    return loaded;
  }

  #takeState(path: string, loaded: LoadedModel, encoder: EncoderOptions | undefined): WhisperState {
    const index = loaded.idle.findIndex((idle) => idle.encoder === encoder?.path);
    const [known] = index === -1 ? [] : loaded.idle.splice(index, 1);
    if (known !== undefined) return known.state;
    // A state with another encoder would only take memory.
    for (const { state } of loaded.idle.splice(0)) state.dispose();
    try {
      return this.#makingRoom(path, () => loaded.model.createState(encoder));
    } catch (error) {
      if (encoder === undefined) throw error;
      return loaded.model.createState();
    }
  }

  /**
   * Retries a failed allocation after it has freed all other unused models, which are loaded again at their next use.
   */
  #makingRoom<T>(path: string, make: () => T): T {
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
    for (const { state } of loaded.idle) state.dispose();
    loaded.model.dispose();
  }
}
