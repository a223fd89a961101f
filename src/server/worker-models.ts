import type { SpeechModel, SpeechModels } from "../models/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import type { Recordings } from "../recordings/index.ts";
import { SpeechEngine, type SpeechEngineOptions } from "../speech/index.ts";

export interface WorkerModelsOptions extends Omit<SpeechEngineOptions, "speechModels"> {
  readonly speech: SpeechModels;
  readonly recordings: Recordings;
}

/**
 * The engine, and the speech models that it needs: the current one for new recordings, and those that open recordings
 * were created for.
 */
export class WorkerModels implements RecordingModels {
  readonly #speechEngine: SpeechEngine;
  readonly #speech: SpeechModels;

  constructor({ speech, recordings, ...options }: WorkerModelsOptions) {
    this.#speech = speech;
    this.#speechEngine = new SpeechEngine({
      ...options,
      speechModels: () => {
        const current = speech.current().path;
        const others = recordings.open.models().flatMap((id) => speech.find(id)?.path ?? []);
        return [current, ...new Set(others.filter((path) => path !== current))];
      },
    });
  }

  get engine() {
    return this.#speechEngine.engine;
  }

  current(): SpeechModel {
    return this.#speech.current();
  }

  find(id: string): SpeechModel | null {
    return this.#speech.find(id);
  }

  sha256Of(model: SpeechModel): Promise<string> {
    return this.#speech.sha256Of(model);
  }

  async admit({ path }: SpeechModel, signal: AbortSignal): Promise<void> {
    await this.#speechEngine.admit(path, signal);
  }

  async encoderOf({ path }: SpeechModel, spokenSeconds: number, signal: AbortSignal): Promise<string | null> {
    return await this.#speechEngine.encoderOf(path, spokenSeconds, signal);
  }

  freeUnneeded(): void {
    this.#speechEngine.freeUnneeded();
  }

  async close(): Promise<void> {
    await this.#speechEngine.close();
  }
}
