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
    const floats = FLOATS_OF[variable.type](bytes.buffer);
    if (scale) unscale(floats, scale, firstRow + row, elementsPerRow);
    yield type === "float32" ? bytesOf(floats) : toHalf(floats, plan.name);
  }
}

function readFloats(source: ByteSource, { offset, sizeBytes, type }: Variable): Float32Array {
  return FLOATS_OF[type](source.read(offset, sizeBytes).buffer);
}

/** Conversions of elements to float32. A buffer has nothing else, as from `ByteSource.read`, so that views are aligned. */
const FLOATS_OF: Readonly<Record<ElementType, (buffer: ArrayBufferLike) => Float32Array>> = {
  float32: (buffer) => new Float32Array(buffer),
  float16: (buffer) => new Float32Array(new Float16Array(buffer)),
  // A bfloat16 is the upper half of a float32.
  bfloat16: (buffer) => new Float32Array(Uint32Array.from(new Uint16Array(buffer), (half) => half << 16).buffer),
  int8: (buffer) => new Float32Array(new Int8Array(buffer)),
  int16: (buffer) => new Float32Array(new Int16Array(buffer)),
  int32: (buffer) => new Float32Array(new Int32Array(buffer)),
};

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
