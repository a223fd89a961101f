import type { Settings } from "../config/index.ts";
import { ModelLibrary, SpeechModels } from "../models/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import type { DataPaths, Store } from "../storage/index.ts";

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
