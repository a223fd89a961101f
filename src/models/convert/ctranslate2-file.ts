import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ModelError } from "../model-error.ts";

/** Element types, indexed by their number in the file; the order is that of CTranslate2's `DataType`. */
const ELEMENT_TYPES = ["float32", "int8", "int16", "int32", "float16", "bfloat16"] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

export const ELEMENT_BYTES: Record<ElementType, number> = {
  float32: 4,
  int8: 1,
  int16: 2,
  int32: 4,
  float16: 2,
  bfloat16: 2,
};

/** A tensor in a CTranslate2 file. Shapes are row-major, slowest dimension first; a scalar's shape is empty. */
export interface Variable {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: ElementType;
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Index of a CTranslate2 `model.bin`: the position of each variable, with aliases resolved. */
export interface Ctranslate2Index {
  readonly specification: string;
  readonly revision: number;
  /** Variables by name and by alias; several names may refer to one variable. */
  readonly variables: ReadonlyMap<string, Variable>;
}

const BINARY_VERSION = 6;
/** Limits against hostile files, far above any real model: large-v3 has about 1,300 variables of three dimensions. */
const MAX_VARIABLES = 65_536;
const MAX_RANK = 8;
const MAX_NAME_BYTES = 1_024;

/**
 * Reads the index of a CTranslate2 `model.bin` without reading its weights.
 *
 * The file is little-endian and has this layout (CTranslate2, `ModelSpec._serialize`):
 * - u32 binary version, name of the specification, u32 revision of the specification
 * - u32 number of variables; for each: name, u8 rank, u32 per dimension, u8 element type, u32 byte count, the bytes
 * - u32 number of aliases; for each: the alias and the name of its variable
 *
 * A name is a u16 length, followed by that number of bytes; the last byte is NUL.
 * @throws {ModelError} when the file is invalid, for example a name, shape or count that exceeds the file's end
 */
export function readIndex(source: ByteSource): Ctranslate2Index {
  const cursor = new Cursor(source);
  const version = cursor.u32();
  if (version !== BINARY_VERSION) {
    throw new ModelError(
      `not a CTranslate2 model file of version ${BINARY_VERSION}: it begins with ${version}. Convert it again with CTranslate2 3.0 or later`,
    );
  }
  const specification = cursor.name();
  const revision = cursor.u32();

  const variables = new Map<string, Variable>();
  const add = (name: string, variable: Variable) => {
    if (variables.has(name)) throw new ModelError(`the model file has two variables named ${name}`);
    variables.set(name, variable);
  };
  for (let remaining = cursor.count("variables"); remaining > 0; remaining--) {
    const variable = cursor.variable();
    add(variable.name, variable);
  }
  for (let remaining = cursor.count("aliases"); remaining > 0; remaining--) {
    const alias = cursor.name();
    const target = cursor.name();
    const variable = variables.get(target);
    if (!variable) throw new ModelError(`the model file's alias ${alias} refers to ${target}, which does not exist`);
    add(alias, variable);
  }
  if (cursor.position !== source.sizeBytes) {
    throw new ModelError(`the model file has ${source.sizeBytes - cursor.position} bytes after its end`);
  }
  return { specification, revision, variables };
}

/** Cursor over the file's headers. It reads through a small window and skips the weights. */
class Cursor {
  position = 0;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;

  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  u8(): number {
    return this.#take(1).getUint8(0);
  }

  u16(): number {
    return this.#take(2).getUint16(0, true);
  }

  u32(): number {
    return this.#take(4).getUint32(0, true);
  }

  count(what: string): number {
    const count = this.u32();
    if (count > MAX_VARIABLES) throw new ModelError(`the model file claims ${count} ${what}: it is damaged`);
    return count;
  }

  name(): string {
    const length = this.u16();
    if (length === 0 || length > MAX_NAME_BYTES) {
      throw new ModelError(`a name in the model file is ${length} bytes long: it is damaged`);
    }
    const view = this.#take(length);
    const bytes = new Uint8Array(view.buffer, view.byteOffset, length);
    if (bytes.indexOf(0) !== length - 1) throw new ModelError("a name in the model file is not NUL-terminated");
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length - 1));
    } catch {
      throw new ModelError("a name in the model file is not UTF-8");
    }
  }

  variable(): Variable {
    const name = this.name();
    const rank = this.u8();
    if (rank > MAX_RANK) throw new ModelError(`${name} has ${rank} dimensions: the model file is damaged`);
    const shape = Array.from({ length: rank }, () => this.u32());
    const typeNumber = this.u8();
    const type = ELEMENT_TYPES[typeNumber];
    if (!type) throw new ModelError(`${name} is of element type ${typeNumber}, which is unknown`);
    const sizeBytes = this.u32();
    const expected = shape.reduce((product, size) => product * size, ELEMENT_BYTES[type]);
    if (sizeBytes !== expected) {
      throw new ModelError(`${name} has ${sizeBytes} bytes where its shape [${shape}] of ${type} needs ${expected}`);
    }
    const offset = this.position;
    if (offset + sizeBytes > this.#source.sizeBytes) {
      throw new ModelError(
        `the model file is truncated: ${name} reaches to byte ${offset + sizeBytes} of ${this.#source.sizeBytes}`,
      );
    }
    this.position += sizeBytes;
    return { name, shape, type, offset, sizeBytes };
  }

  #take(length: number): DataView {
    const from = this.position - this.#windowStart;
    if (from < 0 || from + length > this.#window.byteLength) {
      const wanted = Math.min(Math.max(length, 4_096), Math.max(length, this.#source.sizeBytes - this.position));
      this.#window = this.#source.read(this.position, wanted);
      this.#windowStart = this.position;
    }
    const view = new DataView(this.#window.buffer, this.position - this.#windowStart, length);
    this.position += length;
    return view;
  }
}

/** Random access to the bytes of one file, or of several files that were split at arbitrary places. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Returns exactly `length` bytes from `offset`. @throws {ModelError} when the range exceeds the end */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

interface Part {
  readonly descriptor: number;
  readonly start: number;
  readonly sizeBytes: number;
}

/** Opens files as one concatenated byte source, without joining them on disk. The caller closes the source. */
export function openFiles(paths: readonly string[]): ByteSource {
  const parts: Part[] = [];
  let sizeBytes = 0;
  const close = () => {
    for (const part of parts.splice(0)) closeSync(part.descriptor);
  };
  try {
    for (const path of paths) {
      const descriptor = openSync(path, "r");
      const part = { descriptor, start: sizeBytes, sizeBytes: fstatSync(descriptor).size };
      parts.push(part);
      sizeBytes += part.sizeBytes;
    }
  } catch (error) {
    close();
    throw error;
  }
  return { sizeBytes, close, read: (offset, length) => readAcross(parts, sizeBytes, offset, length) };
}

function readAcross(parts: readonly Part[], sizeBytes: number, offset: number, length: number): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > sizeBytes) {
    throw new ModelError(
      `the model file ends too early: ${length} bytes are needed at ${offset}, but it has only ${sizeBytes}`,
    );
  }
  const bytes = new Uint8Array(length);
  let done = 0;
  for (const part of parts) {
    // The inner loop handles short reads: Linux reads at most 2 GiB in one call.
    while (done < length && offset + done < part.start + part.sizeBytes) {
      const within = offset + done - part.start;
      const count = readSync(part.descriptor, bytes, done, Math.min(length - done, part.sizeBytes - within), within);
      if (count === 0) throw new ModelError("the model file became shorter while it was read");
      done += count;
    }
  }
  return bytes;
}
