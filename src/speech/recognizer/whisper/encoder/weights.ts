import type { FileHandle } from "node:fs/promises";
import { FLOAT16, FLOAT32, ModelFileError } from "../../ggml-file/index.ts";
import type { ModelFile } from "../model-file/index.ts";
import type { StoredBytes } from "./onnx-graph.ts";

/** Size of a memory page: weights that start on a page boundary can be mapped into memory directly. */
const PAGE_BYTES = 4096;

/** Reads an encoder tensor as 32-bit floats. @throws {ModelFileError} when it is missing or quantised */
export async function readFloats(file: FileHandle, { tensors }: ModelFile, name: string): Promise<Float32Array> {
  const tensor = tensors.get(`encoder.${name}`);
  if (tensor === undefined) throw new ModelFileError(`the model has no encoder.${name}`);
  if (tensor.type !== FLOAT32 && tensor.type !== FLOAT16) throw new ModelFileError("its weights are quantised");
  const elementBytes = tensor.type === FLOAT32 ? 4 : 2;
  const bytes = new Uint8Array(tensor.shape.reduce((product, size) => product * size, elementBytes));
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, tensor.offset + done);
    if (bytesRead === 0) throw new ModelFileError("the file ends too early");
    done += bytesRead;
  }
  return tensor.type === FLOAT32 ? new Float32Array(bytes.buffer) : Float32Array.from(new Float16Array(bytes.buffer));
}

/** Returns a function that appends weights to the file next to the model, which refers to the weights by offset. */
export function weightsWriter(
  file: FileHandle,
  name: string,
): (values: Float32Array | Uint16Array | Uint8Array) => Promise<StoredBytes> {
  let end = 0;
  return async (values) => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const offset = Math.ceil(end / PAGE_BYTES) * PAGE_BYTES;
    for (let done = 0; done < bytes.length; ) {
      done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    end = offset + bytes.length;
    return { file: name, offset, length: bytes.length };
  };
}
