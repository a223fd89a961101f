import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type ModelFile,
  ModelFileError,
  type ModelSizes,
  readModelFile,
  type StoredTensor,
} from "../model-file/index.ts";
import { type EncoderForm, encoderGraph } from "./encoder-graph.ts";
import type { StoredBytes } from "./onnx-graph.ts";

/** Version of the written format; must be increased with every change of the format. */
const writerVersion = 1;
const graphName = "encoder.onnx";
const weightsName = "weights.bin";
const files = [graphName, weightsName];
/** Width of each attention head in all of OpenAI's models; the addon's attention is written for this width. */
const headWidth = 64;
const makingPrefix = ".making-";
const dayMilliseconds = 86_400_000;
/** Time without use after which encoders are removed, such as those of deleted models and of older versions. */
const keptMilliseconds = 30 * dayMilliseconds;

/**
 * Builds the ONNX form of a whisper model's encoder, unless it exists, in a directory named after a digest of its
 * inputs, which appears whole or not at all. @returns the path of the ONNX file
 * @throws {ModelFileError} when the model has no encoder of floats
 */
export async function makeEncoder(modelPath: string, form: EncoderForm, directory: string): Promise<string> {
  await using file = await open(modelPath);
  const name = await digest(modelPath, form);
  const made = join(directory, name);
  if (await isSoundEncoder(join(made, graphName))) return join(made, graphName);
  await rm(made, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await sweep(directory, Date.now());
  const work = await mkdtemp(join(directory, makingPrefix));
  try {
    const model = readModelFile(modelPath);
    const shape = encoderShape(model.sizes);
    if (form === "bfloat16" && shape.width !== headWidth * shape.heads) {
      throw new ModelFileError(`its heads are not ${headWidth} wide`);
    }
    await using weightsFile = await open(join(work, weightsName), "wx");
    const weights = new WeightsFile(weightsFile, weightsName);
    const read = (tensor: string) => readFloats(file, model, tensor);
    const graph = await encoderGraph(shape, form, read, (values) => weights.add(values));
    await weightsFile.sync();
    await using graphFile = await open(join(work, graphName), "wx");
    await graphFile.writeFile(graph);
    await graphFile.sync();
    await writeDigest(work, files);
    await rename(work, made).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(join(made, graphName))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return join(made, graphName);
}

/** Returns the path of an encoder's ONNX file; the encoder's name is that of its directory. */
export function encoderPath(directory: string, name: string): string {
  return join(directory, name, graphName);
}

/** Returns whether a built encoder is complete and undamaged; if so, records its use. */
export async function isSoundEncoder(path: string): Promise<boolean> {
  if (!(await isSound(path, files))) return false;
  await noteEncoderUse(path);
  return true;
}

/** Records the use of a built encoder, which is removed after a month without use. @param path of its ONNX file */
export async function noteEncoderUse(path: string): Promise<void> {
  // Nothing is removed from a read-only file system anyway.
  await noteUse(dirname(path), new Date()).catch(() => {});
}

/** Removes encoders that were not used for a month, and unfinished ones after a day. */
async function sweep(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const isUnfinished = name.startsWith(makingPrefix);
    const since = isUnfinished ? stat(path).then(({ mtime }) => mtime) : lastUse(path);
    const age = await since.then((date) => now - date.getTime()).catch(() => 0);
    if (age > (isUnfinished ? dayMilliseconds : keptMilliseconds)) await rm(path, { recursive: true, force: true });
  }
}

async function digest(modelPath: string, form: EncoderForm): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([writerVersion, form]));
  for await (const bytes of Bun.file(modelPath).stream()) hash.update(bytes);
  return hash.digest("hex").slice(0, 32);
}

const digestName = "sha256";

/** Stores a digest of an encoder's files, so that damage to them is detected. */
export async function writeDigest(directory: string, names: readonly string[]): Promise<void> {
  await writeFile(join(directory, digestName), await digestOf(directory, names), { flush: true });
}

/** Returns whether all files of a built encoder exist and match the stored digest. @param path of its ONNX file */
export async function isSound(path: string, names: readonly string[]): Promise<boolean> {
  try {
    const directory = dirname(path);
    return (await readFile(join(directory, digestName), "utf8")) === (await digestOf(directory, names));
  } catch {
    return false;
  }
}

/** Records that a built encoder is used now. */
export async function noteUse(directory: string, now: Date): Promise<void> {
  await utimes(join(directory, digestName), now, now);
}

/** Returns the time when an encoder was built or last used. @throws {Error} when there is none */
export async function lastUse(directory: string): Promise<Date> {
  return (await stat(join(directory, digestName))).mtime;
}

async function digestOf(directory: string, names: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of names) for await (const bytes of Bun.file(join(directory, name)).stream()) hash.update(bytes);
  return hash.digest("hex");
}

/** Size of a memory page: weights that start on a page boundary can be mapped into memory directly. */
const alignment = 4096;

/** Writer of the weights file next to the model, which refers to the weights by offset. */
export class WeightsFile {
  readonly #file: FileHandle;
  readonly #name: string;
  #end = 0;

  constructor(file: FileHandle, name: string) {
    this.#file = file;
    this.#name = name;
  }

  async add(values: Float32Array | Uint16Array): Promise<StoredBytes> {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const offset = Math.ceil(this.#end / alignment) * alignment;
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    this.#end = offset + bytes.length;
    return { file: this.#name, offset, length: bytes.length };
  }
}

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
