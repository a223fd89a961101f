import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { NewFile } from "../../src/disk/index.ts";
import {
  type ImportOptions,
  type InstalledModel,
  importModels,
  type ModelEntry,
  ModelLibrary,
  parseLanguageRoutes,
  SpeechModels,
  writeBundle,
} from "../../src/models/index.ts";

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

  /** Imports a file, a directory or a bundle; only `whisper-small` is in the catalogue. */
  import(path: string, more: Partial<ImportOptions> = {}): Promise<InstalledModel[]> {
    const catalogue = [officialEntry("whisper-small", SMALL)];
    const { library } = this;
    return importModels(path, {
      library,
      catalogue,
      name: undefined,
      inspect: () => {},
      onProgress: () => {},
      ...more,
    });
  }

  /** Returns the files of the data directory, except locks. */
  files(): string[] {
    return [...new Bun.Glob("**").scanSync({ cwd: this.dataDirectory })]
      .filter((name) => !/\.lock(-journal)?$/.test(name))
      .sort();
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

interface SpeechOptions extends Partial<Omit<ConstructorParameters<typeof SpeechModels>[0], "routes">> {
  readonly routes?: readonly string[];
}

/** A library with a built-in model and a database of the chosen one. */
export class SpeechLibrary extends TestLibrary {
  readonly store = openDatabase(":memory:");
  readonly builtInPath: string;

  constructor(builtIn: string | Uint8Array = "base") {
    super();
    this.builtInPath = this.file("base.bin", builtIn);
  }

  /** Returns its speech models according to settings. */
  speech({ routes = [], ...more }: SpeechOptions = {}): SpeechModels {
    const { store, library, builtInPath } = this;
    const parsed = parseLanguageRoutes(routes);
    return new SpeechModels({ store, library, builtInPath, setting: "", routes: parsed, ...more });
  }
}

/** Writes a bundle to a path, like the command. */
export async function bundleAt(models: readonly InstalledModel[], path: string): Promise<void> {
  using output = new NewFile(path);
  await writeBundle(models, output, () => {});
  await output.publish();
}
