import type { Settings } from "../config/index.ts";
import { ModelLibrary, type SpeechModel, SpeechModels } from "../models/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import { type Language, readModelLanguages, validateModelFile } from "../speech/index.ts";
import { type DataPaths, openDatabase, type Store } from "../storage/index.ts";
import { orStartError } from "./start-error.ts";

/** The speech models of a data directory, as the settings say. */
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
    builtInPath: files.whisperModel,
    setting: settings.engine.whisper_model,
  });
}

/**
 * The speech model that new recordings get, and what it accepts, to be asked for as it is at the time.
 * @throws {StartError} when there is none now that can be read
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
    // Said here of the model; the worker's self-tests would say it of each variant of the CPU backend.
    validateModelFile(speech.current().path);
  });
  return inUse;
}

/**
 * The speech model that new recordings get, found out without changing anything. A database that can't say which was chosen,
 * of an earlier version or damaged, counts as a new one.
 * @param database one that is open to be read; null where there is none
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
    // What is wrong with it, its own checks say.
  }
  return speechModelsFor(settings, { ...places, store: openDatabase(":memory:") }).current();
}
