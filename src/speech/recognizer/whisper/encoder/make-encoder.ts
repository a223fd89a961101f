import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ModelFileError, readModelFile } from "../model-file/index.ts";
import { isSound, lastUse, noteUse, writeDigest } from "./digest.ts";
import { type EncoderForm, encoderGraph } from "./encoder-graph.ts";
import { encoderShape, readFloats } from "./ggml-tensors.ts";
import { WeightsFile } from "./weights-file.ts";

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
 * Builds the ONNX form of a whisper model's encoder, unless it exists. The result is a directory named after a digest
 * of its inputs; it appears whole or not at all.
 * @param directory parent of these directories; created when missing
 * @returns the path of the ONNX file
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
