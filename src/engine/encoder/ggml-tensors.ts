import type { FileHandle } from "node:fs/promises";

/** A tensor of a ggml model file: row-major, the last dimension's elements lie side by side. */
export interface GgmlTensor {
  readonly shape: readonly number[];
  /** ggml's number of its element type. */
  readonly type: number;
  /** Where its bytes begin in the file. */
  readonly offset: number;
}

/** The shape of a whisper model, as its file's header says it. */
export interface WhisperShape {
  readonly positions: number;
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly mels: number;
}

export interface GgmlModel {
  readonly shape: WhisperShape;
  readonly tensors: ReadonlyMap<string, GgmlTensor>;
}

const float32 = 0;
const float16 = 1;
const headerBytes = 48;
/** No tensor of a whisper model has more dimensions, and no name is longer. */
const mostDimensions = 4;
const longestName = 256;
const longestWord = 4096;

/** The file is damaged, no whisper model, or holds elements other than floats. */
export class GgmlFileError extends Error {
  override readonly name = "GgmlFileError";
}

/** Reads where the tensors of a whisper model's file lie. @throws {GgmlFileError} where it holds anything but 16 and 32 bit floats */
export async function readGgmlModel(file: FileHandle): Promise<GgmlModel> {
  const reader = new Reader(file, (await file.stat()).size);
  const header = await reader.view(headerBytes);
  const at = (index: number) => header.getInt32(4 * index, true);
  const shape = { positions: at(2), width: at(3), heads: at(4), layers: at(5), mels: at(10) };
  if (Object.values(shape).some((size) => size < 1 || size > 65_536) || shape.width % shape.heads !== 0) {
    throw new GgmlFileError("the header is not that of a whisper model");
  }
  const filters = await reader.view(8);
  reader.skip(4 * filters.getInt32(0, true) * filters.getInt32(4, true));
  const words = (await reader.view(4)).getInt32(0, true);
  for (let word = 0; word < words; word++) {
    reader.skip(checked((await reader.view(4)).getUint32(0, true), longestWord));
  }
  const tensors = new Map<string, GgmlTensor>();
  while (!reader.atEnd()) {
    const [name, tensor] = await readTensor(reader);
    tensors.set(name, tensor);
  }
  return { shape, tensors };
}

/** Reads a tensor's elements as 32 bit floats. */
export async function readFloats(file: FileHandle, { shape, type, offset }: GgmlTensor): Promise<Float32Array> {
  const count = elements(shape);
  const bytes = new Uint8Array(count * bytesOf(type));
  await readFully(file, bytes, offset);
  if (type === float32) return new Float32Array(bytes.buffer);
  return Float32Array.from(new Float16Array(bytes.buffer));
}

async function readTensor(reader: Reader): Promise<[string, GgmlTensor]> {
  const start = await reader.view(12);
  const dimensions = checked(start.getInt32(0, true), mostDimensions);
  const sizes = await reader.view(4 * dimensions);
  // ggml counts the innermost dimension first
  const shape = Array.from({ length: dimensions }, (_, index) => sizes.getInt32(4 * index, true)).toReversed();
  const name = new TextDecoder().decode(await reader.view(checked(start.getInt32(4, true), longestName)));
  const type = start.getInt32(8, true);
  const tensor = { shape, type, offset: reader.position };
  reader.skip(elements(shape) * bytesOf(type));
  return [name, tensor];
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * checked(size, 2 ** 31), 1);
}

function bytesOf(type: number): number {
  if (type === float32) return 4;
  if (type === float16) return 2;
  throw new GgmlFileError("its weights are quantised");
}

function checked(size: number, most: number): number {
  if (size < 0 || size > most) throw new GgmlFileError("the file is damaged");
  return size;
}

async function readFully(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) throw new GgmlFileError("the file ends too early");
    done += bytesRead;
  }
}

/** Reads a file from its beginning in blocks: a vocabulary is fifty thousand words of some bytes. */
class Reader {
  readonly #file: FileHandle;
  readonly #size: number;
  #block = new Uint8Array(0);
  #blockStart = 0;
  position = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  atEnd(): boolean {
    return this.position === this.#size;
  }

  skip(bytes: number): void {
    if (bytes < 0 || this.position + bytes > this.#size) throw new GgmlFileError("the file ends too early");
    this.position += bytes;
  }

  async view(bytes: number): Promise<DataView> {
    const from = this.position;
    this.skip(bytes);
    if (from < this.#blockStart || from + bytes > this.#blockStart + this.#block.length) {
      this.#block = new Uint8Array(Math.min(65_536, this.#size - from));
      this.#blockStart = from;
      await readFully(this.#file, this.#block, from);
    }
    return new DataView(this.#block.buffer, from - this.#blockStart, bytes);
  }
}
