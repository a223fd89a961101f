import { existsSync, readdirSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { syncDirectory } from "../storage/index.ts";
import { dropCacheEntry, makeCacheEntry, sweepTemporaryFolders, withTemporaryFolder } from "./cache-entry.ts";
import { modelIdSchema } from "./catalogue.ts";

const noteSchema = Type.Object({
  id: modelIdSchema,
  sizeBytes: Type.Integer({ minimum: 1 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  sha1: Type.String({ pattern: "^[0-9a-f]{40}$" }),
  /** Whether the digest is one that was published for this id; else it was computed when the model came in. */
  inCatalogue: Type.Boolean(),
  /** Where it came from, in words. */
  from: Type.String(),
  installedAt: Type.String(),
});

/** What is noted of an installed model. */
export type ModelNote = Static<typeof noteSchema>;

export interface InstalledModel extends ModelNote {
  readonly path: string;
}

/** A model that can't be taken in; the message says why and what to do. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
}

const modelFile = "model.bin";
const noteFile = "model.json";

/**
 * The models that were installed, in a data directory:
 * ```
 * installed/ID/model.bin, model.json   whole or not there at all
 * downloads/                           what is on its way, to be gone on with
 * tmp/                                 what is being put together
 * ```
 */
export class ModelLibrary {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get downloads(): string {
    return join(this.#root, "downloads");
  }

  /** The model of that id; null where it isn't installed, or what lies there is not whole. */
  find(id: string): InstalledModel | null {
    if (!Value.Check(modelIdSchema, id)) return null;
    const folder = join(this.#root, "installed", id);
    const path = join(folder, modelFile);
    try {
      const note: unknown = JSON.parse(readFileSync(join(folder, noteFile), "utf8"));
      return Value.Check(noteSchema, note) && note.id === id && existsSync(path) ? { ...note, path } : null;
    } catch {
      return null;
    }
  }

  /** All that are installed, by id. */
  list(): InstalledModel[] {
    const folder = join(this.#root, "installed");
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .sort()
      .flatMap((id) => this.find(id) ?? []);
  }

  /** Runs `use` with a new folder on the library's file system, which is gone afterwards. */
  async withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
    await sweepTemporaryFolders(this.#root, Date.now());
    return await withTemporaryFolder(this.#root, use);
  }

  /**
   * Takes a file of this file system in, which is moved. It counts once all of it is on disk.
   * @throws {LibraryError} where another model has that id
   */
  async add(note: ModelNote, file: string): Promise<InstalledModel> {
    await using handle = await open(file, "r");
    await handle.sync();
    await makeCacheEntry(this.#root, join("installed", note.id), async (folder) => {
      await Bun.write(join(folder, noteFile), `${JSON.stringify(note, null, 2)}\n`);
      await rename(file, join(folder, modelFile));
      await syncDirectory(folder);
    });
    await syncDirectory(join(this.#root, "installed"));
    const installed = this.find(note.id);
    if (installed?.sha256 === note.sha256) return installed;
    throw new LibraryError(
      `another model is installed as ${note.id}; remove it first (transcribe models remove ${note.id}), or give this one another --name`,
    );
  }

  /** Removes a model: at once for those who look for it, then from disk. */
  async remove(id: string): Promise<void> {
    await dropCacheEntry(this.#root, join("installed", id));
  }
}
