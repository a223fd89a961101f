import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { messageOf } from "../text/index.ts";
import { ModelError, requireSpace } from "./model-error.ts";

/** Files of a faster-whisper directory that an import reads. */
const directoryFiles = ["model.bin", "vocabulary.json", "vocabulary.txt"];

/**
 * A model on a local path, with its files already open. A process opens the files while it still has the rights to
 * read them. After it drops these rights, it copies the model to a folder from which the import reads it.
 */
export class OpenedModel implements Disposable {
  readonly #name: string;
  readonly #isDirectory: boolean;
  /** Open files by their path relative to the destination folder. */
  readonly #descriptors = new Map<string, number>();

  /** @throws {ModelError} when the path does not exist or can't be read */
  constructor(path: string) {
    this.#name = basename(resolve(path));
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new ModelError(`there is no file or directory ${path}`);
    this.#isDirectory = found.isDirectory();
    try {
      if (this.#isDirectory) for (const name of directoryFiles) this.#open(join(path, name), join(this.#name, name));
      else this.#open(path, this.#name);
    } catch (error) {
      this[Symbol.dispose]();
      throw new ModelError(`${path} can't be read (${messageOf(error)})`);
    }
  }

  /** Copies the model into a folder. @returns its path there @throws {ModelError} when disk space is insufficient */
  async copyTo(folder: string): Promise<string> {
    const sizes = [...this.#descriptors.values()].map((descriptor) => fstatSync(descriptor).size);
    await requireSpace(
      folder,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const path = join(folder, this.#name);
    if (this.#isDirectory) mkdirSync(path, { mode: 0o700 });
    for (const [name, fd] of this.#descriptors) {
      const input = createReadStream("", { fd, autoClose: false, highWaterMark: 1 << 20 });
      await pipeline(input, createWriteStream(join(folder, name), { flags: "wx", mode: 0o600 }));
    }
    return path;
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }

  #open(path: string, name: string): void {
    if (!existsSync(path)) return;
    // With O_NONBLOCK, opening a pipe does not wait for a writer.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#descriptors.set(name, descriptor);
    if (!fstatSync(descriptor).isFile()) throw new ModelError(`${path} is neither a file nor a directory`);
  }
}
