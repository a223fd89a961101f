import type { Command } from "commander";
import { findRunningServer } from "../../api-contract/index.ts";
import { runtimeDirectoryOf, type Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import {
  findModel,
  type InstalledModel,
  type ModelEntry,
  ModelLibrary,
  productCatalogue,
  SpeechModels,
} from "../../models/index.ts";
import { type ProgramFiles, programFiles } from "../../program/index.ts";
import { Recordings } from "../../recordings/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { CommandError } from "../command-error.ts";
import { dataSettingsOf, openStoreIn } from "../settings-options.ts";

/** Shared objects of the commands for models. */
export interface ModelsContext {
  readonly settings: Settings;
  readonly dataDirectory: DataDirectory;
  readonly store: Store;
  readonly recordings: Recordings;
  readonly files: ProgramFiles;
  readonly library: ModelLibrary;
  readonly catalogue: readonly ModelEntry[];
  readonly speech: SpeechModels;
  /** `engine.whisper_model` of the running server, else of the settings. Overrides the chosen model; empty if unset. */
  readonly setting: string;
}

/** Opens the data directory's models, whether or not a server is running. */
export function modelsContext(command: Command): Promise<ModelsContext> {
  return openModels(dataSettingsOf(command));
}

/** Does the same as `modelsContext`, for a process that already runs as the data directory's owner. */
export async function openModels(own: Settings): Promise<ModelsContext> {
  const dataDirectory = DataDirectory.of(own);
  const running = await findRunningServer(dataDirectory);
  const setting = running?.modelSetting || own.engine.whisper_model;
  const settings = { ...own, engine: { ...own.engine, whisper_model: setting } };
  const store = openStoreIn(dataDirectory);
  const files = await programFiles(runtimeDirectoryOf(settings));
  return {
    ...{ settings, dataDirectory, store, files, setting },
    recordings: new Recordings(store, Date.now),
    library: new ModelLibrary(dataDirectory.models),
    catalogue: productCatalogue(),
    speech: SpeechModels.of(settings, { files, dataDirectory, store }),
  };
}

/** Returns the catalogue's entry with this id. @throws {CommandError} when the id is unknown */
export function requireEntry(catalogue: readonly ModelEntry[], id: string): ModelEntry {
  const entry = findModel(catalogue, id);
  if (entry !== null) return entry;
  const meant = findModel(catalogue, `whisper-${id}`);
  const next = meant === null ? "list them with: transcribe models list" : `did you mean ${meant.id}?`;
  throw new CommandError(`the catalogue has no model ${id}; ${next}`);
}

/** Converts an installed model to the format that the installing commands print with `--json`. */
export function modelJson({ id, sizeBytes, sha256, sha1, inCatalogue, from, installedAt }: InstalledModel) {
  return { id, size_bytes: sizeBytes, sha256, sha1, in_catalogue: inCatalogue, from, installed_at: installedAt };
}

/** Advice for machines without a direct network connection. */
export const airGap =
  "Behind a proxy, set HTTPS_PROXY; for your own mirror, set models.mirror. Without a network, write a bundle on a machine that has one (transcribe models bundle ID -o FILE), copy it here and import it (transcribe models import FILE)";
