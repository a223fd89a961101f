import { messageOf } from "../text/index.ts";
import { builtInSpeechModel } from "./built-in.ts";
import { findModel, type ModelEntry } from "./catalogue.ts";
import { type FileDigests, isPublished, publishedDigests } from "./digest.ts";
import type { InstalledModel, ModelLibrary } from "./library.ts";
import { LibraryError } from "./library-error.ts";

export interface Newcomer {
  /** Path of the model's file on the library's file system; the file is moved. */
  readonly file: string;
  readonly digests: FileDigests;
  /** Origin of the model, as text for people. */
  readonly from: string;
}

/** Returns the catalogue's model whose published digests match those of a file. */
function recognise(catalogue: readonly ModelEntry[], digests: FileDigests): ModelEntry | undefined {
  return catalogue.find((entry) => isPublished(entry, digests));
}

/**
 * Determines a model's id. If the catalogue knows the file's digests, the id comes from the catalogue. Otherwise it is
 * the given name, which must not be an id of the catalogue.
 * @throws {LibraryError} when another model is installed under that id
 * @throws {LibraryError} when the given name is an id of the catalogue, but the digests differ
 * @throws {LibraryError} when the file is the built-in speech model
 */
export function identify(
  digests: FileDigests,
  name: string,
  library: ModelLibrary,
  catalogue: readonly ModelEntry[],
): { readonly id: string; readonly inCatalogue: boolean } {
  const entry = recognise(catalogue, digests);
  if (entry?.id === builtInSpeechModel) {
    throw new LibraryError(`${entry.id} comes with the program; there is nothing to import`);
  }
  if (entry === undefined) refuseCataloguedName(name, catalogue);
  const id = entry?.id ?? name;
  const installed = library.find(id);
  if (installed !== null && installed.sha256 !== digests.sha256) {
    throw new LibraryError(
      `another model is installed as ${id}; remove it first (transcribe models remove ${id}), or give this one another --name`,
    );
  }
  return { id, inCatalogue: entry !== undefined };
}

export interface TakeInOptions {
  readonly library: ModelLibrary;
  readonly catalogue: readonly ModelEntry[];
  /** Throws when a file is not a complete model that native code can load. */
  readonly inspect: (path: string) => void;
}

/** Inspects a model file and moves it into the library. @throws {LibraryError} */
export async function takeIn(
  { file, digests, from }: Newcomer,
  name: string,
  { library, catalogue, inspect }: TakeInOptions,
): Promise<InstalledModel> {
  requireSound(file, inspect);
  const identity = identify(digests, name, library, catalogue);
  return await library.add({ ...identity, ...digests, from, installedAt: new Date().toISOString() }, file);
}

/** Refuses an id of the catalogue for an unknown file: a damaged or different file must not pass as the published. */
function refuseCataloguedName(name: string, catalogue: readonly ModelEntry[]): void {
  const claimed = findModel(catalogue, name);
  if (claimed === null) return;
  const [digest] = publishedDigests(claimed);
  throw new LibraryError(
    `this is not ${name} as it was published (${digest?.algorithm} ${digest?.hex}): it is damaged, or another model. Fetch it again, or give it another --name`,
  );
}

/** Checks that native code can load a file. @throws {LibraryError} when it can't; the message has the reason */
export function requireSound(path: string, inspect: TakeInOptions["inspect"]): void {
  try {
    inspect(path);
  } catch (error) {
    throw new LibraryError(messageOf(error));
  }
}
