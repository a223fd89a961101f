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
      /** Offset of the tensor's floats in the weights file, in bytes. */
      offset: Type.Integer({ minimum: 0 }),
      dims: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 8 }),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
);

export interface AssemblyInput {
  /** Path of an ONNX model without its weights. */
  readonly graphPath: string;
  /** Path of a JSON file with the names, offsets and dimensions of the weights. */
  readonly tensorsPath: string;
  /** Path of the file with the weights as 32-bit little-endian floats, which are copied unchanged. */
  readonly weightsPath: string;
}

/**
 * Combines a model's graph and its weights into one ONNX file. Needs only a few megabytes of memory.
 * The output file must not exist. On an error, the caller removes the partially written file.
 * @throws {ConversionError} when the list of tensors is invalid, or refers to bytes past the end of the weights file
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
