import type { EncoderOptions, WhisperModel, WhisperState } from "./recognizer/whisper/index.ts";

interface LoadedModel {
  readonly model: WhisperModel;
  /** Working memories, about 200 MB each for base: made when needed, then used again, each with the encoder of that path. */
  readonly idle: { readonly state: WhisperState; readonly encoder: string | undefined }[];
  users: number;
  /** It goes when its last user does. */
  unwanted: boolean;
}

/** The whisper models of this process, by path: loaded when first needed, freed when they are told to be needed no more. */
export class ModelPool {
  readonly #open: (path: string) => WhisperModel;
  readonly #loaded = new Map<string, LoadedModel>();

  constructor(open: (path: string) => WhisperModel) {
    this.#open = open;
  }

  /** Loads a model; where there is no room for it, those that nobody works with make some. @throws Error that says what is wrong with it */
  load(path: string): void {
    this.#get(path);
  }

  /**
   * Runs a job with a working memory of the model.
   * @param encoder encodes in place of the model's own; where it can't, the model's own does
   * @throws the signal's reason when it is aborted before the job begins
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

  /** Frees all other models, those at work as soon as they are done. */
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
    // one that encodes in another way would only take memory
    for (const { state } of loaded.idle.splice(0)) state.dispose();
    try {
      return this.#makingRoom(path, () => loaded.model.createState(encoder));
    } catch (error) {
      if (encoder === undefined) throw error;
      return loaded.model.createState();
    }
  }

  /** What fails for want of memory may fit once the other models are gone; they are loaded again when needed. */
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
