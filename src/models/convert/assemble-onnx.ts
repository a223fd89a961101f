import { open, readFile } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { openFiles } from "./byte-source.ts";
import { ConversionError } from "./conversion-error.ts";
import { FLOAT_BYTES, tensorHeader } from "./onnx-tensor.ts";
import { writeAll } from "./write-all.ts";

const Tensors = Type.Array(
  Type.Object(
    {
      name: Type.String({ minLength: 1 }),
      /** Where its floats begin in the file with the weights. */
      offset: Type.Integer({ minimum: 0 }),
      dims: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 8 }),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
);

export interface AssemblyInput {
  /** An ONNX model that lacks the weights. */
  readonly graphPath: string;
  /** JSON: the weights' names, places and dimensions. */
  readonly tensorsPath: string;
  /** The file that has them as 32-bit little-endian floats, which are copied as they stand. */
  readonly weightsPath: string;
}

/**
 * Puts a model's graph and its weights together, into one ONNX file. Memory stays at some megabytes.
 * The output file must not exist; what was written is left for the caller to remove when this throws.
 * @throws {ConversionError} where the list is none, or names a place that the weights' file does not have
 */
export async function assembleOnnx(input: AssemblyInput, outputPath: string): Promise<void> {
  const tensors: unknown = JSON.parse(await readFile(input.tensorsPath, "utf8"));
  if (!Value.Check(Tensors, tensors)) throw new ConversionError(`${input.tensorsPath} is no list of tensors`);
  const weights = openFiles([input.weightsPath]);
  try {
    await using output = await open(outputPath, "wx");
    await writeAll(output, await readFile(input.graphPath));
    for (const tensor of tensors) {
      const count = tensor.dims.reduce((product, dim) => product * dim, 1);
      const floats = weights.read(tensor.offset, count * FLOAT_BYTES);
      await writeAll(output, tensorHeader(tensor));
      await writeAll(output, floats);
    }
    await output.sync();
  } finally {
    weights.close();
  }
}
