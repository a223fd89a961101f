import { open, readFile } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { openFiles } from "../../src/models/convert/ctranslate2-file.ts";
import { ModelError } from "../../src/models/index.ts";

const FLOAT_BYTES = 4;
const TYPE_FLOAT = 1;
/** Wire types of Protocol Buffers: a variable-length integer, and bytes after their length. */
const VARINT = 0;
const BYTES = 2;

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

/**
 * Combines a model's graph and its weights into one ONNX file. Needs only a few megabytes of memory.
 * The output file must not exist. On an error, the caller removes the partially written file.
 * @param input paths of an ONNX model without its weights; of a JSON file with the names, offsets and dimensions of the
 * weights; and of the file with the weights as 32-bit little-endian floats, which are copied unchanged
 * @throws {ModelError} when the list of tensors is invalid, or refers to bytes past the end of the weights file
 */
export async function assembleOnnx(
  input: { readonly graphPath: string; readonly tensorsPath: string; readonly weightsPath: string },
  outputPath: string,
): Promise<void> {
  const tensors: unknown = JSON.parse(await readFile(input.tensorsPath, "utf8"));
  if (!Value.Check(Tensors, tensors)) throw new ModelError(`${input.tensorsPath} is not a list of tensors`);
  const weights = openFiles([input.weightsPath]);
  try {
    await using output = await open(outputPath, "wx");
    await output.appendFile(await readFile(input.graphPath));
    for (const tensor of tensors) {
      const count = tensor.dims.reduce((product, dim) => product * dim, 1);
      const floats = weights.read(tensor.offset, count * FLOAT_BYTES);
      await output.appendFile(tensorHeader(tensor));
      await output.appendFile(floats);
    }
    await output.sync();
  } finally {
    weights.close();
  }
}

/**
 * Encodes a tensor of 32-bit floats as a fragment that can be appended to an ONNX file. The fragment is a model whose
 * graph contains this tensor only. Protocol Buffers merge concatenated messages into one, and concatenate their lists.
 *
 * Field numbers in onnx.proto: ModelProto.graph 7, GraphProto.initializer 5; TensorProto.dims 1, data_type 2, name 8,
 * raw_data 9.
 * @returns the bytes before the tensor's floats; the floats themselves are little-endian and end the fragment
 */
function tensorHeader({ name, dims }: { readonly name: string; readonly dims: readonly number[] }): Uint8Array {
  const sizeBytes = dims.reduce((product, dim) => product * dim, FLOAT_BYTES);
  const label = Buffer.from(name);
  const tensor = Buffer.concat([
    ...dims.map((dim) => Buffer.concat([tag(1, VARINT), varint(dim)])),
    Buffer.concat([tag(2, VARINT), varint(TYPE_FLOAT)]),
    Buffer.concat([tag(8, BYTES), varint(label.length), label]),
    Buffer.concat([tag(9, BYTES), varint(sizeBytes)]),
  ]);
  const inGraph = Buffer.concat([tag(5, BYTES), varint(tensor.length + sizeBytes), tensor]);
  return Buffer.concat([tag(7, BYTES), varint(inGraph.length + sizeBytes), inGraph]);
}

function tag(field: number, wireType: number): Uint8Array {
  return varint(field * 8 + wireType);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Uint8Array.from([...bytes, rest]);
}
