import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ModelFileError, readModelFile } from "../model-file/index.ts";
import { isSound, lastUse, noteUse, writeDigest } from "./digest.ts";
import { type EncoderForm, encoderGraph } from "./encoder-graph.ts";
import { encoderShape, readFloats } from "./ggml-tensors.ts";
import { WeightsFile } from "./weights-file.ts";

/** To be raised with every change of what is written. */
const writerVersion = 1;
const graphName = "encoder.onnx";
const weightsName = "weights.bin";
const files = [graphName, weightsName];
/** Of all of OpenAI's sizes; the addon's attention is made for it. */
const headWidth = 64;
const makingPrefix = ".making-";
const dayMilliseconds = 86_400_000;
/** Encoders of models that are gone, and of older versions, are removed after so long. */
const keptMilliseconds = 30 * dayMilliseconds;

/**
 * Makes the ONNX form of a whisper model's encoder, unless it is there: a directory named after what it is made of,
 * which appears whole or not at all.
 * @param directory where such directories are kept; made when missing
 * @returns the path of the ONNX file
 * @throws {ModelFileError} where the model has no encoder of floats
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
      // another process was faster
      if (!existsSync(join(made, graphName))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return join(made, graphName);
}

/** Where the ONNX file of an encoder lies, by the encoder's name, which is its directory's. */
export function encoderPath(directory: string, name: string): string {
  return join(directory, name, graphName);
}

/** Whether a made encoder is there and whole. One that is, counts as used today. */
export async function isSoundEncoder(path: string): Promise<boolean> {
  if (!(await isSound(path, files))) return false;
  await noteEncoderUse(path);
  return true;
}

/** Notes that a made encoder is used: what is not for a month is removed. @param path of its ONNX file */
export async function noteEncoderUse(path: string): Promise<void> {
  // a file system that can't be written keeps what it has
  await noteUse(dirname(path), new Date()).catch(() => {});
}

/** Removes what nobody has used for a month, and what was never finished. */
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
