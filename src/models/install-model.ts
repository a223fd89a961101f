import { messageOf } from "../text/index.ts";
import { builtInSpeechModel, findModel, type ModelEntry } from "./catalogue.ts";
import { type FileDigests, isPublished, publishedDigests } from "./digests.ts";
import type { InstalledModel, ModelLibrary } from "./library.ts";
import { ModelError } from "./model-error.ts";

export interface NewModel {
  /** Path of the model's file on the library's file system; the file is moved. */
  readonly file: string;
  readonly digests: FileDigests;
  /** Origin of the model, as text for people. */
  readonly from: string;
}

export interface InstallOptions {
  readonly library: ModelLibrary;
  readonly catalogue: readonly ModelEntry[];
  /** Throws when a file is not a complete model that native code can load. */
  readonly inspect: (path: string) => void;
}

/**
 * Inspects a model file and moves it into the library.
 * @param replaced a damaged model under the same id, which stays until the file has passed every check
 * @throws {ModelError}
 */
export async function installModel(
  { file, digests, from }: NewModel,
  name: string,
  { library, catalogue, inspect }: InstallOptions,
  replaced: InstalledModel | null = null,
): Promise<InstalledModel> {
  requireLoadable(file, inspect);
  const { id, inCatalogue } = identify(digests, name, catalogue);
  if (replaced?.id !== id) requireFreeId(id, digests, library);
  const metadata = { id, inCatalogue, ...digests, from, installedAt: new Date().toISOString() };
  return await library.add(metadata, file, replaced !== null);
}

/**
 * Determines a model's id. If the catalogue knows the file's digests, the id comes from the catalogue. Otherwise it is
 * the given name, which must not be an id of the catalogue: a damaged or different file must not pass as the published.
 * @throws {ModelError} when the given name is an id of the catalogue, but the digests differ
 * @throws {ModelError} when the file is the built-in speech model
 */
export function identify(
  digests: FileDigests,
  name: string,
  catalogue: readonly ModelEntry[],
): { readonly id: string; readonly inCatalogue: boolean } {
  const entry = catalogue.find((known) => isPublished(known, digests));
  if (entry?.id === builtInSpeechModel) {
    throw new ModelError(`${entry.id} comes with the program; there is nothing to import`);
  }
  if (entry !== undefined) return { id: entry.id, inCatalogue: true };
  const claimed = findModel(catalogue, name);
  if (claimed === null) return { id: name, inCatalogue: false };
  const [digest] = publishedDigests(claimed);
  throw new ModelError(
    `this is not ${name} as it was published (${digest?.algorithm} ${digest?.hex}): it is damaged, or another model. Fetch it again, or give it another --name`,
  );
}

/** Checks that no other model is installed under an id. @throws {ModelError} when there is one */
export function requireFreeId(id: string, digests: FileDigests, library: ModelLibrary): void {
  const installed = library.find(id);
  if (installed === null || installed.sha256 === digests.sha256) return;
  throw new ModelError(
    `another model is installed as ${id}; remove it first (transcribe models remove ${id}), or give this one another --name`,
  );
}

/** Checks that native code can load a file. @throws {ModelError} with the reason and `hint` when it can't */
export function requireLoadable(path: string, inspect: InstallOptions["inspect"], hint = ""): void {
  try {
    inspect(path);
  } catch (error) {
    throw new ModelError(messageOf(error) + hint);
  }
}
