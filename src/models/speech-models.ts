import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import type { Settings } from "../config/index.ts";
import { type Store, tables } from "../database/index.ts";
import { digestFile, type ProgramFiles, renewal } from "../program/index.ts";
import { canTranslate, familyOf, type Language, readModelLanguages } from "../speech/index.ts";
import type { DataPaths } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { builtInSpeechModel, findModel, modelIdSchema, productCatalogue } from "./catalogue.ts";
import { type LanguageRoutes, parseLanguageRoutes } from "./language-routes.ts";
import { attributionsOf, ModelLibrary } from "./library.ts";
import { ModelError } from "./model-error.ts";

/** A speech model and the path of its file. */
export interface SpeechModel {
  /** The model's id; for a file named in the settings, its absolute path. */
  readonly id: string;
  readonly path: string;
}

interface SpeechModelsOptions {
  readonly store: Store;
  readonly library: ModelLibrary;
  /** Path of the model that ships with the program. */
  readonly builtInPath: string;
  /** `engine.whisper_model`: an id or a path, which overrides the chosen model; empty if not set. */
  readonly setting: string;
  /** `engine.recognizers`. */
  readonly routes: LanguageRoutes;
  /** Called once with a built-in model that is not the file of releases, when its digest is first needed. */
  readonly onForeignWeights?: (id: string, sha256: string) => void;
}

/** The places of speech models: the built-in one, and the data directory's. */
interface ModelPlaces {
  readonly files: Pick<ProgramFiles, "speechModel">;
  readonly dataDirectory: Pick<DataPaths, "models">;
  readonly store: Store;
  readonly log?: Logger;
}

/** A model that recognizes some languages instead of the model in use. */
export interface LanguageRoute {
  readonly model: SpeechModel;
  /** ISO codes of the languages, which the model knows. */
  readonly codes: readonly string[];
}

/**
 * Selection of the speech model, and lookup of model files. A new choice applies at once in a running server: it is a
 * database row that is read whenever a recording is created.
 */
export class SpeechModels {
  readonly #options: SpeechModelsOptions;
  readonly #digests = new Map<string, { readonly stamp: string; readonly sha256: Promise<string> }>();

  constructor(options: SpeechModelsOptions) {
    this.#options = options;
  }

  /** Returns the speech models of a data directory, according to the settings. */
  static of({ engine }: Pick<Settings, "engine">, { files, dataDirectory, store, log }: ModelPlaces): SpeechModels {
    return new SpeechModels({
      store,
      library: new ModelLibrary(dataDirectory.models),
      builtInPath: files.speechModel,
      setting: engine.whisper_model,
      routes: parseLanguageRoutes(engine.recognizers),
      onForeignWeights: (model, sha256) => log?.warn({ event: "model.not_of_release", model, sha256 }),
    });
  }

  /** Returns the model for new recordings: the settings' model, else the chosen one if available, else the built-in. */
  current(): SpeechModel {
    const { setting } = this.#options;
    if (setting !== "") return this.find(setting) ?? { id: resolve(setting), path: resolve(setting) };
    const chosen = this.chosen();
    return (chosen === null ? null : this.find(chosen)) ?? this.#builtIn();
  }

  /** Returns the model for new recordings, like `current`. @throws {ModelError} when the model's file is missing */
  requireCurrent(): SpeechModel {
    const model = this.current();
    if (existsSync(model.path)) return model;
    const { setting } = this.#options;
    throw new ModelError(
      setting === ""
        ? `${model.path} is missing; ${renewal}`
        : `no model ${setting} is installed and no file has this path; get it with: transcribe models pull, or import`,
    );
  }

  /** Returns the id of the model chosen last, even if it is no longer available; null if none was chosen. */
  chosen(): string | null {
    const { chosenModels } = tables;
    const row = this.#options.store.select().from(chosenModels).where(eq(chosenModels.kind, "speech")).get();
    // Only the settings may specify a model by its path.
    return Value.Check(modelIdSchema, row?.model) ? row.model : null;
  }

  /** Returns a model by its id or its absolute path, or null when it is not available. */
  find(id: string): SpeechModel | null {
    if (id === builtInSpeechModel) return this.#builtIn();
    if (id.startsWith("/")) return existsSync(id) ? { id, path: id } : null;
    const installed = this.#options.library.find(id);
    return installed === null ? null : { id, path: installed.path };
  }

  /**
   * Returns the model that detects languages for a model that cannot, and recognizes the languages that it does not
   * know: the settings' if it is installed, else the built-in one. Null if the model needs no other.
   * @throws {Error} when a model's file cannot be read
   */
  companionOf({ path }: SpeechModel): SpeechModel | null {
    if (detectsLanguage(path)) return null;
    const { rest } = this.#options.routes;
    const set = rest === null ? null : this.find(rest);
    return set !== null && detectsLanguage(set.path) ? set : this.#builtIn();
  }

  /** Returns the installed models of the settings, each with those of its languages that it knows. */
  routes(): LanguageRoute[] {
    const { byCode } = this.#options.routes;
    return [...new Set(byCode.values())].flatMap((id) => {
      const model = this.find(id);
      if (model === null) return [];
      const known = readModelLanguages(model.path).map(({ code }) => code);
      return { model, codes: known.filter((code) => byCode.get(code) === id) };
    });
  }

  /** Returns whether the settings name a model for languages. */
  isRouted(id: string): boolean {
    const { byCode, rest } = this.#options.routes;
    return rest === id || [...byCode.values()].includes(id);
  }

  /** @throws {ModelError} when the settings assign languages to a model that is not installed or does not know them */
  requireRoutes(): void {
    const { byCode, rest } = this.#options.routes;
    const routes = this.routes();
    for (const [code, id] of byCode) {
      if (this.find(id) === null)
        throw new ModelError(`no model ${id} is installed; get it with: transcribe models import`);
      if (!routes.some(({ codes }) => codes.includes(code)))
        throw new ModelError(`${id} does not know the language ${code}`);
    }
    if (rest === null) return;
    const model = this.find(rest);
    if (model === null) throw new ModelError(`no model ${rest} is installed; get it with: transcribe models pull`);
    if (!detectsLanguage(model.path))
      throw new ModelError(`${rest} detects no languages, so it cannot be the model for *`);
  }

  /**
   * Returns the languages in which recordings of a model are transcribed, by any of the models, sorted by code.
   * @throws {Error} with a hint when a file is not a model
   */
  languagesOf(model: SpeechModel): Language[] {
    const companion = this.companionOf(model);
    const detected = readModelLanguages((companion ?? model).path);
    const routed = this.routes().flatMap(({ model: { path }, codes }) =>
      readModelLanguages(path).filter(({ code }) => codes.includes(code)),
    );
    // The codes of the model that detects languages come first, because detection returns them.
    const byCode = new Map<string, Language>();
    for (const language of [...detected, ...readModelLanguages(model.path), ...routed]) {
      if (!byCode.has(language.code)) byCode.set(language.code, language);
    }
    return [...byCode.values()].sort((one, other) => (one.code < other.code ? -1 : 1));
  }

  /** Returns the installed models and the built-in one, sorted by id; not a file that the settings name by its path. */
  installed(): SpeechModel[] {
    const builtIn = this.#builtIn();
    const others = this.#options.library.list().filter(({ id }) => id !== builtIn.id);
    return [builtIn, ...others].map(({ id, path }) => ({ id, path })).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * Returns why a model cannot translate, as a sentence that names the installed models that can; null if it can.
   * @throws {Error} with a hint when the model's file is not a model
   */
  translationRefusal(id: string): string | null {
    const model = this.find(id) ?? this.current();
    if (canTranslate(model.path)) return null;
    const able = this.installed().filter(({ path }) => existsSync(path) && canTranslate(path));
    const others =
      able.length === 0
        ? "No installed model translates; install one, such as whisper-base: transcribe models pull whisper-base."
        : `These installed models do: ${able.map((each) => each.id).join(", ")}.`;
    return `The model ${basename(model.id)} does not translate. ${others}`;
  }

  /** Returns the texts that name the authors of the installed models and of the settings' file, if licences require it. */
  attributions(): string[] {
    const named = this.#options.setting === "" ? [] : [this.current()];
    return attributionsOf([...this.installed(), ...named]);
  }

  /** Stores the model for new recordings, in the transaction of `writer`. @param now milliseconds since the epoch */
  choose(id: string, now: number, writer: Pick<Store, "insert">): void {
    const values = { model: id, chosenAt: now };
    writer
      .insert(tables.chosenModels)
      .values({ kind: "speech", ...values })
      .onConflictDoUpdate({ target: tables.chosenModels.kind, set: values })
      .run();
  }

  /** Returns the file's SHA-256: stored for installed models, else cached until the file's size or mtime changes. */
  async sha256Of({ id, path }: SpeechModel): Promise<string> {
    const installed = this.#options.library.find(id);
    if (installed?.path === path) return installed.sha256;
    const { size, mtimeMs } = statSync(path);
    const stamp = `${size} ${mtimeMs}`;
    const known = this.#digests.get(path);
    if (known?.stamp === stamp) return known.sha256;
    const sha256 = digestFile(path, "sha256");
    this.#digests.set(path, { stamp, sha256 });
    const released = findModel(productCatalogue(), id)?.sha256;
    const found = await sha256;
    if (path === this.#options.builtInPath && found !== released) this.#options.onForeignWeights?.(id, found);
    return found;
  }

  #builtIn(): SpeechModel {
    return { id: builtInSpeechModel, path: this.#options.builtInPath };
  }
}

function detectsLanguage(path: string): boolean {
  return familyOf(path).capabilities.detectsLanguage;
}
