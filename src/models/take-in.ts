import { messageOf } from "../text/index.ts";
import { builtInSpeechModel } from "./built-in.ts";
import { findModelOrNull, type ModelEntry } from "./catalogue.ts";
import { type FileDigests, isPublished, publishedDigests } from "./digest.ts";
import type { InstalledModel, ModelLibrary } from "./library.ts";
import { LibraryError } from "./library-error.ts";

export interface Newcomer {
  /** On the library's file system; it is moved. */
  readonly file: string;
  readonly digests: FileDigests;
  /** Where it came from, in words. */
  readonly from: string;
}

/** The catalogue's model that a file is, by its digests. */
function recognise(catalogue: readonly ModelEntry[], digests: FileDigests): ModelEntry | undefined {
  return catalogue.find((entry) => isPublished(entry, digests));
}

/**
 * What a file shall be called: by the catalogue where that knows its digests, else by the name that it is given, which must
 * not be one of the catalogue's.
 * @throws {LibraryError} where that name is taken, by another model or by what it would only pretend to be
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
  /** Throws where a file is no whole model that native code can load. */
  readonly inspect: (path: string) => void;
}

/** Takes a model file into the library once it was inspected. @throws {LibraryError} */
export async function takeIn(
  { file, digests, from }: Newcomer,
  name: string,
  { library, catalogue, inspect }: TakeInOptions,
): Promise<InstalledModel> {
  requireSound(file, inspect);
  const identity = identify(digests, name, library, catalogue);
  return await library.add({ ...identity, ...digests, from, installedAt: new Date().toISOString() }, file);
}

/** A file that calls itself what it is not, damaged or another, must not pass for the published one. */
function refuseCataloguedName(name: string, catalogue: readonly ModelEntry[]): void {
  const claimed = findModelOrNull(catalogue, name);
  if (claimed === null) return;
  const [digest] = publishedDigests(claimed);
  throw new LibraryError(
    `this is not ${name} as it was published (${digest?.algorithm} ${digest?.hex}): it is damaged, or another model. Fetch it again, or give it another --name`,
  );
}

/** Holds a file against what native code can load. @throws {LibraryError} that says what is wrong with it */
export function requireSound(path: string, inspect: TakeInOptions["inspect"]): void {
  try {
    inspect(path);
  } catch (error) {
    throw new LibraryError(messageOf(error));
  }
}
