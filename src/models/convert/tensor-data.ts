import { ModelError } from "../model-error.ts";
import { type ByteSource, ELEMENT_BYTES, type ElementType, type Variable } from "./ctranslate2-file.ts";
import type { TensorPlan } from "./plan-tensors.ts";

/** Target size of a chunk of a tensor in memory. A chunk has whole rows, so a longer row exceeds it. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Yields the tensor's elements, little-endian and in the type of the plan, in chunks of a few megabytes.
 * @throws {ModelError} when float16 can't represent a weight
 */
export function* tensorData(plan: TensorPlan, source: ByteSource): Generator<Uint8Array> {
  const { variable, firstRow, rows, type } = plan;
  const elementsPerRow = variable.shape.slice(1).reduce((product, size) => product * size, 1);
  const rowBytes = elementsPerRow * ELEMENT_BYTES[variable.type];
  const rowsPerChunk = Math.max(1, Math.floor(CHUNK_BYTES / Math.max(1, rowBytes)));
  const scale = plan.scale ? readFloats(source, plan.scale) : undefined;
  for (let row = 0; row < rows; row += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - row);
    const bytes = source.read(variable.offset + (firstRow + row) * rowBytes, count * rowBytes);
    if (variable.type === type) {
      yield bytes;
      continue;
    }
    const floats = toFloats(bytes, variable.type);
    if (scale) unscale(floats, scale, firstRow + row, elementsPerRow);
    yield type === "float32" ? bytesOf(floats) : toHalf(floats, plan.name);
  }
}

function readFloats(source: ByteSource, variable: Variable): Float32Array {
  return toFloats(source.read(variable.offset, variable.sizeBytes), variable.type);
}

/** Converts elements to float32. `bytes` must span a whole buffer, as from `ByteSource.read`, so that views are aligned. */
function toFloats(bytes: Uint8Array, type: ElementType): Float32Array {
  const { buffer } = bytes;
  switch (type) {
    case "float32":
      return new Float32Array(buffer);
    case "float16":
      return new Float32Array(new Float16Array(buffer));
    case "bfloat16":
      // A bfloat16 is the upper half of a float32.
      return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (half) => half << 16).buffer);
    case "int8":
      return new Float32Array(new Int8Array(buffer));
    case "int16":
      return new Float32Array(new Int16Array(buffer));
    case "int32":
      return new Float32Array(new Int32Array(buffer));
  }
}

/** Divides quantised values by their scale. A quantised value is round(weight × scale); see `ModelSpec._quantize`. */
function unscale(floats: Float32Array, scale: Float32Array, firstRow: number, elementsPerRow: number): void {
  for (let start = 0; start < floats.length; start += elementsPerRow) {
    const row = firstRow + start / elementsPerRow;
    const factor = scale[scale.length === 1 ? 0 : row] ?? 1;
    const end = start + elementsPerRow;
    for (let element = start; element < end; element++) floats[element] = (floats[element] ?? 0) / factor;
  }
}

function toHalf(floats: Float32Array, name: string): Uint8Array {
  const halves = new Float16Array(floats);
  if (!halves.every(Number.isFinite)) throw new ModelError(`${name} has weights that float16 can't hold`);
  return bytesOf(halves);
}

function bytesOf(view: Float32Array | Float16Array): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
