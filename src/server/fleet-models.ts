import type { WorkerModel } from "../fleet/index.ts";
import type { InstalledModel, ModelLibrary } from "../models/index.ts";
import type { SpeechEngine } from "../speech/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ModelFile = Pick<InstalledModel, "path" | "sha256">;

interface FleetModelsOptions {
  readonly builtIn: ModelFile;
  readonly library: Pick<ModelLibrary, "list">;
  /** The engine that uses the models; it does not exist when this is constructed. */
  readonly speech: () => Pick<SpeechEngine, "admit" | "encoderOf" | "freeUnneeded">;
  readonly log: Logger;
}

/** Speech that justifies making the encoder's ONNX form: the coordinator has decided that already. */
const ENOUGH_SPEECH_SECONDS = Number.MAX_SAFE_INTEGER;

/** The speech models of a fleet's worker. Commands install and remove models while the worker runs. */
export class FleetModels {
  readonly #options: FleetModelsOptions;
  /** Paths of the models that the engine has self-tested. It may have loaded them. */
  readonly #admitted = new Set<string>();
  #models: readonly WorkerModel[] | null = null;

  constructor(options: FleetModelsOptions) {
    this.#options = options;
  }

  /** Returns the paths of the models that the engine may need. */
  paths(): [string, ...string[]] {
    const { path } = this.#options.builtIn;
    return [path, ...[...this.#admitted].filter((each) => each !== path)];
  }

  /** Returns the models that are installed now. Frees those that were removed or replaced. */
  list(): readonly WorkerModel[] {
    const { builtIn, library, speech, log } = this.#options;
    const before = this.#models ?? [];
    const files = [builtIn, ...library.list()];
    const isSame = (a: ModelFile, b: ModelFile) => a.path === b.path && a.sha256 === b.sha256;
    const gone = before.filter((model) => !files.some((file) => isSame(file, model)));
    const isNew = files.some((file) => !before.some((model) => isSame(file, model)));
    if (this.#models !== null && gone.length === 0 && !isNew) return this.#models;
    for (const { path } of gone) this.#admitted.delete(path);
    if (gone.length > 0) speech().freeUnneeded();
    if (this.#models !== null) log.info({ event: "fleet.models_changed", models: files.length });
    this.#models = files.map((file) => this.#workerModel(file));
    return this.#models;
  }

  #workerModel({ path, sha256 }: ModelFile): WorkerModel {
    return {
      path,
      sha256,
      prepare: async (signal, usesEncoder) => {
        const speech = this.#options.speech();
        this.#admitted.add(path);
        await speech.admit(path, signal);
        return usesEncoder ? await speech.encoderOf(path, ENOUGH_SPEECH_SECONDS, signal) : null;
      },
    };
  }
}
