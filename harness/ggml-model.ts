import { type ExpectedTensor, FLOAT16, FLOAT32 } from "../src/speech/recognizer/ggml-file/index.ts";
import { quantize } from "./parakeet/quantize.ts";

/** First number of a model file. */
export const MAGIC = 0x67676d6c;

/** A part of a model file in ggml's form, in file order. */
export type ModelPart =
  | { readonly kind: "number"; readonly value: number }
  /** A text with its length. `isListed`: its length is one of the numbers of `ModelBytes`. */
  | { readonly kind: "text"; readonly text: string; readonly isListed: boolean }
  | { readonly kind: "floats"; readonly values: Float32Array }
  /** `values` are converted to the type, unless they are stored bytes. */
  | (ExpectedTensor & { readonly kind: "tensor"; readonly name: string; readonly values: Float32Array | Uint8Array });

export function numberParts(...values: readonly number[]): ModelPart[] {
  return values.map((value) => ({ kind: "number", value }));
}

/** Yields the bytes of a part. */
export function* bytesOf(part: ModelPart): Generator<Uint8Array> {
  if (part.kind === "number") yield viewOf(Int32Array.of(part.value));
  else if (part.kind === "floats") yield viewOf(part.values);
  else if (part.kind === "text") {
    const text = Buffer.from(part.text);
    yield viewOf(Int32Array.of(text.length));
    yield text;
  } else {
    const { shape, type, values } = part;
    const name = Buffer.from(part.name);
    // ggml counts the innermost dimension first.
    yield viewOf(Int32Array.of(shape.length, name.length, type, ...shape.toReversed()));
    yield name;
    if (values instanceof Uint8Array || type === FLOAT32) yield viewOf(values);
    else yield type === FLOAT16 ? viewOf(Float16Array.from(values)) : quantize(values, type);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Bytes of a model file and where its numbers lie: all that is not weights. */
export interface ModelBytes {
  readonly bytes: Buffer;
  /** Offsets of 32-bit numbers: sizes, counts and lengths. */
  readonly numbers: readonly number[];
  /** Offsets of the tensors' entries, and of the end of the last one. */
  readonly tensors: readonly number[];
}

export function modelBytes(parts: Iterable<ModelPart>): ModelBytes {
  const bytes: Uint8Array[] = [];
  const numbers: number[] = [];
  const tensors: number[] = [];
  let length = 0;
  for (const part of parts) {
    if (part.kind === "tensor") {
      tensors.push(length);
      for (let i = 0; i < 3 + part.shape.length; i++) numbers.push(length + 4 * i);
    } else if (part.kind === "number" || (part.kind === "text" && part.isListed)) numbers.push(length);
    for (const chunk of bytesOf(part)) {
      bytes.push(chunk);
      length += chunk.byteLength;
    }
  }
  return { bytes: Buffer.concat(bytes), numbers, tensors: [...tensors, length] };
}
