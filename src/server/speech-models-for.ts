import type { Settings } from "../config/index.ts";
import { ModelLibrary, type SpeechModel, SpeechModels } from "../models/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import { type Language, readModelLanguages, validateModelFile } from "../speech/index.ts";
import { type DataPaths, openDatabase, type Store } from "../storage/index.ts";
import { orStartError } from "./start-error.ts";

/** Returns the speech models of a data directory, according to the settings. */
export function speechModelsFor(
  settings: Pick<Settings, "engine">,
  {
    files,
    dataDirectory,
    store,
  }: { readonly files: ProgramFiles; readonly dataDirectory: Pick<DataPaths, "models">; readonly store: Store },
): SpeechModels {
  return new SpeechModels({
    store,
    library: new ModelLibrary(dataDirectory.models),
    builtInPath: files.speechModel,
    setting: settings.engine.whisper_model,
  });
}

/**
 * Returns a function that gives the current speech model for new recordings and its languages.
 * @throws {StartError} if there is no readable model now
 */
export function usableSpeechModel(
  { engine }: Pick<Settings, "engine">,
  speech: SpeechModels,
): () => { readonly id: string; readonly languages: readonly Language[] } {
  const inUse = () => {
    const { id, path } = speech.current();
    return { id, languages: readModelLanguages(path) };
  };
  const from = engine.whisper_model === "" ? "the model in use (transcribe models use)" : "engine.whisper_model";
  orStartError(from, () => {
    speech.requireCurrent();
    // Checked here once; the worker's self-tests would report it for each variant of the CPU backend.
    validateModelFile(speech.current().path);
  });
  return inUse;
}

/**
 * Returns the speech model that new recordings get, without changing anything. A database that cannot name the chosen
 * model, because it is damaged or of an earlier version, is treated as a new one.
 * @param database a database open for reading; null if there is none
 */
export function currentSpeechModel(
  settings: Pick<Settings, "engine">,
  {
    database,
    ...places
  }: {
    readonly files: ProgramFiles;
    readonly dataDirectory: Pick<DataPaths, "models">;
    readonly database: Store | null;
  },
): SpeechModel {
  try {
    if (database !== null) return speechModelsFor(settings, { ...places, store: database }).current();
  } catch {
    // The database's own checks report the fault.
  }
  return speechModelsFor(settings, { ...places, store: openDatabase(":memory:") }).current();
}
