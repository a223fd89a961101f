import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { messageOf } from "../text/index.ts";
import { ModelError, requireSpace } from "./model-error.ts";

const COPY_BYTES = 1 << 20;
/** Files of a faster-whisper directory that an import reads. */
const directoryFiles = ["model.bin", "vocabulary.json", "vocabulary.txt"];

interface OpenFile {
  /** Path relative to the destination folder. */
  readonly name: string;
  readonly descriptor: number;
}

/**
 * A model on a local path, with its files already open. A process opens the files while it still has the rights to
 * read them. After it drops these rights, it copies the model to a folder from which the import reads it.
 */
export class OpenedModel implements Disposable {
  readonly #name: string;
  readonly #isDirectory: boolean;
  readonly #files: OpenFile[] = [];

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
    await requireSpace(
      folder,
      this.#files.reduce((sum, { descriptor }) => sum + fstatSync(descriptor).size, 0),
    );
    const path = join(folder, this.#name);
    if (this.#isDirectory) mkdirSync(path, { mode: 0o700 });
    for (const { name, descriptor } of this.#files) copy(descriptor, join(folder, name));
    return path;
  }

  [Symbol.dispose](): void {
    for (const { descriptor } of this.#files.splice(0)) closeSync(descriptor);
  }

  #open(path: string, name: string): void {
    if (!existsSync(path)) return;
    // With O_NONBLOCK, opening a pipe does not wait for a writer.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#files.push({ name, descriptor });
    if (!fstatSync(descriptor).isFile()) throw new ModelError(`${path} is neither a file nor a directory`);
  }
}

function copy(from: number, path: string): void {
  const to = openSync(path, "wx", 0o600);
  try {
    const buffer = Buffer.alloc(COPY_BYTES);
    for (let count = readSync(from, buffer); count > 0; count = readSync(from, buffer)) {
      for (let written = 0; written < count; ) written += writeSync(to, buffer, written, count - written);
    }
  } finally {
    closeSync(to);
  }
}
