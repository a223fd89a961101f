import { dequantize, quantize } from "../../../harness/parakeet/quantize.ts";
import { type RandomModelOptions, randomModel } from "../../../harness/parakeet/random-model.ts";
import { FLOAT16, FLOAT32 } from "../../../src/speech/recognizer/ggml-file/index.ts";
import { type Matrix, matrix } from "./matrix.ts";

/** A random model's weights in 64 bits. */
export interface ReferenceModel {
  readonly sizes: RandomModelOptions;
  readonly filters: Float64Array;
  readonly window: Float64Array;
  readonly durations: readonly number[];
  readonly pieces: readonly string[];
  /** A tensor as [first dimension][product of the others]. */
  matrix(name: string): Matrix;
  vector(name: string): Float64Array;
}

/** Reads a random model as its file would have it: matrices are rounded to their form. */
export function referenceModel(sizes: RandomModelOptions): ReferenceModel {
  const floats: Float64Array[] = [];
  const numbers: number[] = [];
  const pieces: string[] = [];
  const tensors = new Map<string, { shape: readonly number[]; values: Float64Array }>();
  for (const part of randomModel(sizes)) {
    if (part.kind === "number") numbers.push(part.value);
    else if (part.kind === "floats") floats.push(Float64Array.from(part.values));
    else if (part.kind === "text") pieces.push(part.text);
    else {
      const { name, shape, type } = part;
      tensors.set(name, { shape, values: asStored(Float32Array.from(part.values), type) });
    }
  }
  const [filters = new Float64Array(), window = new Float64Array()] = floats;
  const find = (name: string) => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`the model has no tensor ${name}`);
    return tensor;
  };
  return {
    ...{ sizes, filters, window, pieces },
    // Behind the header, two sizes of the filters and one of the window; the size of the vocabulary follows.
    durations: numbers.slice(-1 - sizes.durations, -1),
    vector: (name) => find(name).values,
    matrix: (name) => {
      const { shape, values } = find(name);
      const [rows = 1] = shape;
      const columns = values.length / rows;
      return matrix(rows, columns, (row, column) => values[row * columns + column] ?? 0);
    },
  };
}

function asStored(values: Float32Array, type: number): Float64Array {
  if (type === FLOAT32) return Float64Array.from(values);
  return type === FLOAT16 ? Float64Array.from(Float16Array.from(values)) : dequantize(quantize(values, type), type);
}
