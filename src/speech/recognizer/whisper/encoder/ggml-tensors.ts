import type { FileHandle } from "node:fs/promises";
import { type ModelFile, ModelFileError, type ModelSizes, type StoredTensor } from "../model-file/index.ts";

/** The shape of a whisper model's encoder. */
export interface WhisperShape {
  readonly positions: number;
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly mels: number;
}

const float32 = 0;
const float16 = 1;

/** Returns the shape of a model's encoder. @throws {ModelFileError} when no encoder can have this shape */
export function encoderShape({ audioContext, audioWidth, audioHeads, audioLayers, mels }: ModelSizes): WhisperShape {
  const shape = { positions: audioContext, width: audioWidth, heads: audioHeads, layers: audioLayers, mels };
  if (Object.values(shape).some((size) => size < 1 || size > 65_536) || shape.width % shape.heads !== 0) {
    throw new ModelFileError("the header is not that of a whisper model");
  }
  return shape;
}

/** Reads an encoder tensor as 32-bit floats. @throws {ModelFileError} when it is missing or quantised */
export async function readFloats(file: FileHandle, { tensors }: ModelFile, name: string): Promise<Float32Array> {
  const tensor = tensors.get(`encoder.${name}`);
  if (tensor === undefined) throw new ModelFileError(`the model has no encoder.${name}`);
  const bytes = await readBytes(file, tensor);
  if (tensor.type === float32) return new Float32Array(bytes.buffer);
  return Float32Array.from(new Float16Array(bytes.buffer));
}

async function readBytes(file: FileHandle, { shape, type, offset }: StoredTensor): Promise<Uint8Array> {
  const bytes = new Uint8Array(shape.reduce((product, size) => product * size, bytesOf(type)));
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) throw new ModelFileError("the file ends too early");
    done += bytesRead;
  }
  return bytes;
}

function bytesOf(type: number): number {
  if (type === float32) return 4;
  if (type === float16) return 2;
  throw new ModelFileError("its weights are quantised");
}
