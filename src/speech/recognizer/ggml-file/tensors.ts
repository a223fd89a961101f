import { type FileReader, ModelFileError } from "./file-reader.ts";
import { tensorTypes } from "./tensor-types.ts";

/** A tensor of a ggml file. It is row-major: elements of the last dimension are adjacent. */
export interface StoredTensor {
  readonly shape: readonly number[];
  /** ggml's number of the element type. */
  readonly type: number;
  /** Offset of the first byte in the file. */
  readonly offset: number;
}

/** A tensor that a model of given sizes must have. */
export interface ExpectedTensor {
  /** Row-major. */
  readonly shape: readonly number[];
  readonly type: number;
}

/** Limits far above any model's; the native loader has the same (native/patches/limits). */
const MAX_DIMENSIONS = 4;
const MAX_NAME_BYTES = 256;
/** The largest Whisper models, large-v1 to large-v3, have 1,259 tensors. */
const MAX_TENSORS = 8192;

/**
 * Reads the tensor table up to the file's last byte, but no weights. @throws {ModelFileError}
 * @param family name of the model family, for messages
 * @param leastDimensions 0 if the family has tensors of a single number, which have no dimension
 */
export function readTensors(reader: FileReader, family: string, leastDimensions: 0 | 1): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  while (!reader.atEnd()) readTensor(reader, tensors, family, leastDimensions);
  return tensors;
}

function readTensor(
  reader: FileReader,
  tensors: Map<string, StoredTensor>,
  family: string,
  leastDimensions: number,
): void {
  const dimensions = bounded(reader, "the number of a tensor's dimensions", leastDimensions, MAX_DIMENSIONS);
  const nameLength = bounded(reader, "the length of a tensor's name", 1, MAX_NAME_BYTES);
  const type = reader.int32();
  const layout = tensorTypes.get(type);
  if (layout === undefined) reader.fail(`${type} is not an element type of ${family} models`);
  // ggml stores the innermost dimension first.
  const shape = Array.from({ length: dimensions }, () => bounded(reader, "a tensor's dimension", 1, 2 ** 31 - 1));
  const [rowElements = 1] = shape;
  shape.reverse();
  // One character for each byte, so that two different names cannot become equal.
  const name = reader.bytes(nameLength).toString("latin1");
  if (tensors.has(name)) reader.fail(`the tensor ${JSON.stringify(name)} occurs twice`);
  if (tensors.size === MAX_TENSORS) reader.fail(`there are more than ${MAX_TENSORS} tensors`);
  if (rowElements % layout.blockElements !== 0) {
    reader.fail(`rows of ${rowElements} elements cannot be ${layout.name} in ${JSON.stringify(name)}`);
  }
  tensors.set(name, { shape, type, offset: reader.position });
  const elements = shape.reduce((product, size) => product * size, 1);
  reader.skip((elements / layout.blockElements) * layout.blockBytes);
}

/** Reads a number and checks that it is within its bounds. @throws {ModelFileError} */
export function bounded(reader: FileReader, what: string, least: number, most: number): number {
  const value = reader.int32();
  if (value < least || value > most) reader.fail(`${what} is ${value}, not ${least} to ${most}`);
  return value;
}

/**
 * Checks that a file has exactly the expected tensors. @throws {ModelFileError}
 * @param family name of the model family, for messages
 */
export function requireTensors(
  found: ReadonlyMap<string, StoredTensor>,
  expected: ReadonlyMap<string, ExpectedTensor>,
  family: string,
): void {
  for (const [name, { shape, type }] of expected) {
    const tensor = found.get(name);
    if (tensor === undefined) throw new ModelFileError(`the tensor ${name} is missing`);
    if (!isSameShape(tensor.shape, shape)) {
      throw new ModelFileError(`the tensor ${name} has the shape [${tensor.shape}], not [${shape}]${placeOf(tensor)}`);
    }
    if (tensor.type !== type) {
      const names = [tensor.type, type].map((number) => tensorTypes.get(number)?.name);
      throw new ModelFileError(`the tensor ${name} is of ${names.join(", not ")}${placeOf(tensor)}`);
    }
  }
  for (const [name, tensor] of found) {
    if (!expected.has(name)) {
      throw new ModelFileError(`no ${family} model has a tensor ${JSON.stringify(name)}${placeOf(tensor)}`);
    }
  }
}

function placeOf({ offset }: StoredTensor): string {
  return ` (before byte ${offset})`;
}

/** Ignores leading dimensions of one, because ggml always has four dimensions. */
function isSameShape(one: readonly number[], other: readonly number[]): boolean {
  const without = (shape: readonly number[]) => {
    const first = shape.findIndex((size) => size !== 1);
    return first === -1 ? "" : shape.slice(first).join();
  };
  return without(one) === without(other);
}
