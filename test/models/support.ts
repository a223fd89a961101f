import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  type ImportOptions,
  type InstalledModel,
  type ModelEntry,
  ModelLibrary,
  writeBundle,
} from "../../src/models/index.ts";
import { NewFile } from "../../src/storage/index.ts";

export const hash = (algorithm: "sha256" | "sha1", content: string | Uint8Array) =>
  new Bun.CryptoHasher(algorithm).update(content).digest("hex");

/** Returns a model of the catalogue whose download has the SHA-1 of this content. */
export function officialEntry(id: string, content: string | Uint8Array, url = "https://example.org/m.bin"): ModelEntry {
  const approximateBytes = content.length;
  const sources: ModelEntry["sources"] = [{ type: "download", url, sha1: hash("sha1", content) }];
  return { id, kind: "speech", file: "m.bin", approximateBytes, licence: "MIT", sources };
}

/** The bytes of a model in the catalogue, and of one that is not in it. */
export const SMALL = new Uint8Array(70_000).map((_, index) => index * 3);
export const OWN = new Uint8Array(1_024).map((_, index) => index * 5);

/** Returns the default options of an import. */
export function importOptions({ library }: TestLibrary, more: Partial<ImportOptions> = {}): ImportOptions {
  const catalogue = [officialEntry("whisper-small", SMALL)];
  return { library, catalogue, name: undefined, inspect: () => {}, onProgress: () => {}, ...more };
}

/** A library in its own data directory, next to a folder for other files. */
export class TestLibrary implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly dataDirectory = join(this.path, "data");
  readonly library = new ModelLibrary(join(this.dataDirectory, "models"));

  constructor() {
    mkdirSync(this.dataDirectory);
  }

  file(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  /** Returns the files of the data directory, except locks. */
  files(): string[] {
    return [...new Bun.Glob("**").scanSync({ cwd: this.dataDirectory })]
      .filter((name) => !name.endsWith(".lock"))
      .sort();
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

/** Writes a bundle to a path, like the command. */
export async function bundleAt(models: readonly InstalledModel[], path: string): Promise<void> {
  using output = new NewFile(path);
  await writeBundle(models, output, () => {});
  await output.publish();
}
