import { statSync } from "node:fs";
import type { SpeechEngine } from "../devices/index.ts";
import type { WorkerModel } from "../fleet/index.ts";
import type { InstalledModel } from "../models/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ModelFile = Pick<InstalledModel, "path" | "sha256">;
type LibraryModel = ModelFile & Pick<InstalledModel, "id" | "inCatalogue">;

interface FleetModelsOptions {
  readonly builtIn: ModelFile;
  readonly library: { list(): readonly LibraryModel[] };
  /** Computes the SHA-256 of a file. */
  readonly digest: (path: string) => Promise<string>;
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
  /** Damaged models by their paths. A repair replaces the file. */
  readonly #damaged = new Map<string, { readonly modified: number; readonly trouble: string }>();

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
    const files = [builtIn, ...library.list().filter(({ path }) => !this.#isDamaged(path))];
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

  /** Returns which models are damaged, and how to repair them; null if none is known to be. */
  get trouble(): string | null {
    const found = [...this.#damaged].filter(([path]) => this.#isDamaged(path)).map(([, { trouble }]) => trouble);
    return found.length === 0 ? null : found.join("; ");
  }

  #isDamaged(path: string): boolean {
    const known = this.#damaged.get(path);
    return known !== undefined && known.modified === modifiedAt(path);
  }

  /** Compares an installed model with its checksum. @throws {Error} if it is damaged; then it is no longer listed */
  async #requireSound({ path, sha256, id, inCatalogue }: LibraryModel): Promise<void> {
    const modified = modifiedAt(path);
    const found = await this.#options.digest(path).catch(() => null);
    if (found === sha256) return;
    const repair = inCatalogue
      ? `transcribe models pull ${id}`
      : `transcribe models remove ${id}, then transcribe models import FILE`;
    const trouble = `the model ${id} of this machine is damaged (its checksum is wrong); repair it: ${repair}`;
    this.#damaged.set(path, { modified, trouble });
    this.#options.log.error({ event: "fleet.model_damaged", model: id, trouble });
    throw new Error(trouble);
  }

  #workerModel(file: ModelFile | LibraryModel): WorkerModel {
    const { path, sha256 } = file;
    return {
      path,
      sha256,
      prepare: async (signal, usesEncoder) => {
        const speech = this.#options.speech();
        // A damaged model may fail, or recognize other words. The program's own was compared at the start.
        if ("id" in file && !this.#admitted.has(path)) await this.#requireSound(file);
        this.#admitted.add(path);
        await speech.admit(path, signal);
        return usesEncoder ? await speech.encoderOf(path, ENOUGH_SPEECH_SECONDS, signal) : null;
      },
    };
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
