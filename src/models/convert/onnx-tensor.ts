/**
 * Encodes a tensor of 32-bit floats as a fragment that can be appended to an ONNX file. The fragment is a model whose
 * graph contains this tensor only. Protocol Buffers merge concatenated messages into one, and concatenate their lists.
 *
 * Field numbers in onnx.proto: ModelProto.graph 7, GraphProto.initializer 5; TensorProto.dims 1, data_type 2, name 8,
 * raw_data 9.
 * @returns the bytes before the tensor's floats; the floats themselves are little-endian and end the fragment
 */
export function tensorHeader({ name, dims }: { readonly name: string; readonly dims: readonly number[] }): Uint8Array {
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

export const FLOAT_BYTES = 4;
const TYPE_FLOAT = 1;
/** Wire types of Protocol Buffers: a variable-length integer, and bytes after their length. */
const VARINT = 0;
const BYTES = 2;

function tag(field: number, wireType: number): Uint8Array {
  return varint(field * 8 + wireType);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Uint8Array.from([...bytes, rest]);
}
