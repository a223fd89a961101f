import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Block size: headers, names and most words fit; a larger block would read weights that nobody needs. */
const BLOCK_BYTES = 4096;

/** The file is not a model of the expected family, is damaged, or has content that its reader cannot use. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
}

/** Reads numbers and short texts from a file, front to back, in one block of memory, whatever the file claims. */
export class FileReader implements Disposable {
  readonly #descriptor: number;
  readonly #size: number;
  #block = Buffer.alloc(0);
  #blockStart = 0;
  #position = 0;

  /** @throws {Error} of the file system when the file cannot be opened */
  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    this.#size = fstatSync(this.#descriptor).size;
  }

  get position(): number {
    return this.#position;
  }

  get size(): number {
    return this.#size;
  }

  atEnd(): boolean {
    return this.#position === this.#size;
  }

  /** Reads a signed 32-bit number, little-endian. @throws {ModelFileError} */
  int32(): number {
    const at = this.#take(4);
    return this.#block.readInt32LE(at);
  }

  /** Reads bytes that are valid until the next call. @throws {ModelFileError} */
  bytes(length: number): Buffer {
    const at = this.#take(length);
    return this.#block.subarray(at, at + length);
  }

  /** @throws {ModelFileError} when the file ends before */
  skip(bytes: number): void {
    if (bytes > this.#size - this.#position) this.fail(`${bytes} bytes are missing: the file ends at ${this.#size}`);
    this.#position += bytes;
  }

  /** @throws {ModelFileError} with the offset of the next byte */
  fail(reason: string): never {
    throw new ModelFileError(`${reason} (at byte ${this.#position})`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  /** Advances by `length` bytes. @returns their offset in the block */
  #take(length: number): number {
    const from = this.#position;
    this.skip(length);
    const at = from - this.#blockStart;
    if (at >= 0 && at + length <= this.#block.length) return at;
    this.#load(from, Math.max(length, Math.min(BLOCK_BYTES, this.#size - from)));
    return 0;
  }

  #load(from: number, length: number): void {
    const block = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const count = readSync(this.#descriptor, block, done, length - done, from + done);
      if (count === 0) throw new ModelFileError(`the file became shorter while it was read (at byte ${from + done})`);
      done += count;
    }
    this.#block = block;
    this.#blockStart = from;
  }
}

/** @throws {ModelFileError} */
export function requireWithin(what: string, value: number, least: number, most: number): void {
  if (value < least || value > most) throw new ModelFileError(`${what} is ${value}, not ${least} to ${most}`);
}

/** @throws {ModelFileError} */
export function requireOneOf(what: string, value: number, allowed: readonly number[]): void {
  if (!allowed.includes(value)) throw new ModelFileError(`${what} is ${value}, not ${allowed.join(" or ")}`);
}

/** Runs a function that reads a file, and explains its errors of content to the user. @param explain gets the reason */
export function explaining<T>(path: string, explain: (reason: string) => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModelFileError) || error.message.startsWith(path)) throw error;
    throw new ModelFileError(explain(error.message));
  }
}
