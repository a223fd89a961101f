import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import { digestFile, renewal } from "../program/index.ts";
import { type Store, tables } from "../storage/index.ts";
import { builtInSpeechModel } from "./built-in.ts";
import { modelIdSchema } from "./catalogue.ts";
import type { ModelLibrary } from "./library.ts";
import { LibraryError } from "./library-error.ts";

/** A whisper model that is there. */
export interface SpeechModel {
  /** Its id; of a file that the settings name, its absolute path. */
  readonly id: string;
  readonly path: string;
}

export interface SpeechModelsOptions {
  readonly store: Store;
  readonly library: ModelLibrary;
  /** Where the program's own model lies. */
  readonly builtInPath: string;
  /** `engine.whisper_model`: an id or a path, which wins over what was chosen; empty: none. */
  readonly setting: string;
}

/**
 * Which speech model is in use, and where each one lies. A choice counts at once in a running server: it is a row of the
 * database, read whenever a recording is created.
 */
export class SpeechModels {
  readonly #options: SpeechModelsOptions;
  readonly #digests = new Map<string, { readonly stamp: string; readonly sha256: Promise<string> }>();

  constructor(options: SpeechModelsOptions) {
    this.#options = options;
  }

  /** The model that new recordings get: the settings', else the chosen one while it is there, else the program's own. */
  current(): SpeechModel {
    const { setting } = this.#options;
    if (setting !== "") return this.find(setting) ?? { id: resolve(setting), path: resolve(setting) };
    const chosen = this.chosen();
    return (chosen === null ? null : this.find(chosen)) ?? this.#builtIn();
  }

  /** The model that new recordings get. @throws {LibraryError} where the settings name one that is not there */
  requireCurrent(): SpeechModel {
    const model = this.current();
    if (existsSync(model.path)) return model;
    const { setting } = this.#options;
    throw new LibraryError(
      setting === ""
        ? `${model.path} is missing; ${renewal}`
        : `no model ${setting} is installed, and no file is there of that name; get it with: transcribe models pull, or import`,
    );
  }

  /** What was chosen last, there or not; null: nothing was. */
  chosen(): string | null {
    const { chosenModels } = tables;
    const row = this.#options.store.select().from(chosenModels).where(eq(chosenModels.kind, "speech")).get();
    // Only the settings may name a model by its path.
    return Value.Check(modelIdSchema, row?.model) ? row.model : null;
  }

  /** A model by its id or its absolute path; null where it is not there. */
  find(id: string): SpeechModel | null {
    if (id === builtInSpeechModel) return this.#builtIn();
    if (id.startsWith("/")) return existsSync(id) ? { id, path: id } : null;
    const installed = this.#options.library.find(id);
    return installed === null ? null : { id, path: installed.path };
  }

  /** Makes a model the one that new recordings get, in the transaction of `writer`. @param now milliseconds since the epoch */
  choose(id: string, now: number, writer: Pick<Store, "insert">): void {
    const values = { model: id, chosenAt: now };
    writer
      .insert(tables.chosenModels)
      .values({ kind: "speech", ...values })
      .onConflictDoUpdate({ target: tables.chosenModels.kind, set: values })
      .run();
  }

  /** The model file's SHA-256, computed once for as long as the file stays as it is; an installed model's is known. */
  async sha256Of({ id, path }: SpeechModel): Promise<string> {
    const installed = this.#options.library.find(id);
    if (installed?.path === path) return installed.sha256;
    const { size, mtimeMs } = statSync(path);
    const stamp = `${size} ${mtimeMs}`;
    const known = this.#digests.get(path);
    if (known?.stamp === stamp) return known.sha256;
    const sha256 = digestFile(path, "sha256");
    this.#digests.set(path, { stamp, sha256 });
    return sha256;
  }

  #builtIn(): SpeechModel {
    return { id: builtInSpeechModel, path: this.#options.builtInPath };
  }
}
