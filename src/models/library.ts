import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  lockFile,
  makeCacheEntry,
  removeCacheEntry,
  removeOldTemporaryFolders,
  syncDirectory,
  withTemporaryFolder,
} from "../files/index.ts";
import { familyOf } from "../speech/index.ts";
import { messageOf } from "../text/index.ts";
import { modelIdSchema, sha1Schema, sha256Schema } from "./catalogue.ts";
import { ModelError, withFileErrors } from "./model-error.ts";

const metadataSchema = Type.Object({
  id: modelIdSchema,
  sizeBytes: Type.Integer({ minimum: 1 }),
  sha256: sha256Schema,
  sha1: sha1Schema,
  /** Whether the catalogue knew the digest for this id at the installation. */
  inCatalogue: Type.Boolean(),
  /** Origin of the model, as text for people. */
  from: Type.String(),
  installedAt: Type.String(),
});

/** Metadata stored with an installed model. */
type ModelMetadata = Static<typeof metadataSchema>;

export interface InstalledModel extends ModelMetadata {
  readonly path: string;
}

const modelFile = "model.bin";
const metadataFile = "model.json";

/**
 * The installed models of a data directory:
 * ```
 * installed/ID/model.bin, model.json   complete or absent
 * downloads/                           partial downloads, which can be resumed
 * tmp/                                 models that are being assembled
 * ```
 */
export class ModelLibrary {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the folder for partial downloads and locks, and creates it if necessary. */
  async downloads(): Promise<string> {
    const folder = join(this.#root, "downloads");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** Returns the model with this id, or null when it is not installed or incomplete. */
  find(id: string): InstalledModel | null {
    if (!Value.Check(modelIdSchema, id)) return null;
    const folder = join(this.#root, "installed", id);
    const path = join(folder, modelFile);
    try {
      const metadata: unknown = JSON.parse(readFileSync(join(folder, metadataFile), "utf8"));
      return Value.Check(metadataSchema, metadata) && metadata.id === id && existsSync(path)
        ? { ...metadata, path }
        : null;
    } catch {
      return null;
    }
  }

  /** Returns all installed models, sorted by id. */
  list(): InstalledModel[] {
    const folder = join(this.#root, "installed");
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .sort()
      .flatMap((id) => this.find(id) ?? []);
  }

  /** Returns the texts that name the authors of installed models, as far as a licence requires it. */
  attributions(): string[] {
    return attributionsOf(this.list());
  }

  /**
   * Locks a model against other commands until the returned lock is disposed.
   * @throws {ModelError} when another command holds the lock, or the id or the lock file is unusable
   */
  async lock(id: string): Promise<Disposable> {
    if (!Value.Check(modelIdSchema, id)) throw new ModelError(`${id} is not a valid model id`);
    const path = join(await withFileErrors(() => this.downloads()), `${id}.lock`);
    try {
      const unlock = lockFile(path);
      if (unlock !== null) return { [Symbol.dispose]: unlock };
    } catch (error) {
      throw new ModelError(`can't lock ${path} (${messageOf(error)}); run this as the user of the server`);
    }
    throw new ModelError(`another command is processing ${id}; wait until it has finished`);
  }

  /** Runs `use` with a new folder on the library's file system, and deletes the folder afterwards. */
  async withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
    return await withFileErrors(async () => {
      await removeOldTemporaryFolders(this.#root, Date.now());
      return await withTemporaryFolder(this.#root, use);
    });
  }

  /**
   * Moves a file of the same file system into the library. The model is installed once all of it is on disk.
   * @param replaces whether the model replaces an installed one
   * @throws {ModelError} when another model was installed under the same id meanwhile
   */
  async add(metadata: ModelMetadata, file: string, replaces: boolean): Promise<InstalledModel> {
    await using handle = await open(file, "r");
    await handle.sync();
    // An incomplete entry must not block its id.
    if (this.find(metadata.id) === null && existsSync(join(this.#root, "installed", metadata.id)))
      await this.remove(metadata.id);
    await makeCacheEntry(this.#root, join("installed", metadata.id), async (folder) => {
      await Bun.write(join(folder, metadataFile), `${JSON.stringify(metadata, null, 2)}\n`);
      await rename(file, join(folder, modelFile));
      await syncDirectory(folder);
      if (replaces) await this.remove(metadata.id);
    });
    await syncDirectory(join(this.#root, "installed"));
    const installed = this.find(metadata.id);
    if (installed?.sha256 === metadata.sha256) return installed;
    throw new ModelError(`another model was installed as ${metadata.id} at the same time; see: transcribe models list`);
  }

  /** Removes a model: lookups stop finding it at once, then its files are deleted. */
  async remove(id: string): Promise<void> {
    if (!Value.Check(modelIdSchema, id)) throw new ModelError(`${id} is not a valid model id`);
    await withFileErrors(() => removeCacheEntry(this.#root, join("installed", id)));
  }
}

/** A model whose file tells its family. */
interface ModelFile {
  readonly path: string;
}

/** Returns the licence and the capabilities of the family of a model's file; null if the file cannot be read. */
export function familyFacts({ path }: ModelFile) {
  try {
    const { licence, capabilities, compareEncoders } = familyOf(path);
    return { licence, ...capabilities, hasOnnxEncoder: compareEncoders !== null };
  } catch {
    return null;
  }
}

/** Returns the texts that name the authors of models whose licence requires it, each once. */
export function attributionsOf(models: readonly ModelFile[]): string[] {
  return [...new Set(models.flatMap((model) => familyFacts(model)?.licence?.attribution ?? []))];
}
