import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ModelFileError } from "../../ggml-file/index.ts";
import { type ModelSizes, readModelFile } from "../model-file/index.ts";
import { type EncoderForm, encoderGraph } from "./encoder-graph.ts";
import { readFloats, weightsWriter } from "./weights.ts";

/** Version of the written format; must be increased with every change of the format. */
const WRITER_VERSION = 4;
const GRAPH_NAME = "encoder.onnx";
const WEIGHTS_NAME = "weights.bin";
/** File with the digest of the other two, so that damage to them is detected. Its time is that of the last use. */
const DIGEST_NAME = "sha256";
const UNFINISHED_PREFIX = ".making-";
/** Width of each attention head in all of OpenAI's models; the addon's attention is written for this width. */
const HEAD_WIDTH = 64;
/** The addon's products in 8 bits are written for multiples of this width, which all of OpenAI's models have. */
const BYTE_WIDTH = 128;
const MAX_SIZE = 65_536;
const DAY_MILLISECONDS = 86_400_000;
/** Time without use after which encoders are removed, such as those of deleted models and of older versions. */
const UNUSED_MILLISECONDS = 30 * DAY_MILLISECONDS;

/**
 * Builds the ONNX form of a whisper model's encoder, unless it exists, in a directory named after a digest of its
 * inputs, which appears whole or not at all. @returns the path of the ONNX file
 * @throws {ModelFileError} when the model has no encoder of floats
 */
export async function makeEncoder(modelPath: string, form: EncoderForm, directory: string): Promise<string> {
  await using file = await open(modelPath);
  const made = join(directory, await nameOf(modelPath, form));
  const path = join(made, GRAPH_NAME);
  if (await isSoundEncoder(path)) return path;
  await rm(made, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeUnused(directory, Date.now());
  const work = await mkdtemp(join(directory, UNFINISHED_PREFIX));
  try {
    const model = readModelFile(modelPath);
    requireEncoder(model.sizes, form);
    await using weightsFile = await open(join(work, WEIGHTS_NAME), "wx");
    const read = (tensor: string) => readFloats(file, model, tensor);
    const graph = await encoderGraph(model.sizes, form, read, weightsWriter(weightsFile, WEIGHTS_NAME));
    await weightsFile.sync();
    await writeFile(join(work, GRAPH_NAME), graph, { flag: "wx", flush: true });
    await writeFile(join(work, DIGEST_NAME), await digestOf(work), { flush: true });
    await rename(work, made).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(path)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return path;
}

/** Returns the path of an encoder's ONNX file; the encoder's name is that of its directory. */
export function encoderPath(directory: string, name: string): string {
  return join(directory, name, GRAPH_NAME);
}

/** Returns whether a built encoder is complete and undamaged; if so, records its use. */
export async function isSoundEncoder(path: string): Promise<boolean> {
  try {
    const directory = dirname(path);
    if ((await readFile(join(directory, DIGEST_NAME), "utf8")) !== (await digestOf(directory))) return false;
  } catch {
    return false;
  }
  await noteEncoderUse(path);
  return true;
}

/** Records the use of a built encoder, which is removed after a month without use. @param path of its ONNX file */
export async function noteEncoderUse(path: string): Promise<void> {
  const now = new Date();
  // Nothing is removed from a read-only file system anyway.
  await utimes(join(dirname(path), DIGEST_NAME), now, now).catch(() => {});
}

/** @throws {ModelFileError} when no encoder can have these sizes, or not in this form */
function requireEncoder(sizes: ModelSizes, form: EncoderForm): void {
  const { audioContext, audioWidth, audioHeads, audioLayers, mels } = sizes;
  const isPossible = [audioContext, audioWidth, audioHeads, audioLayers, mels].every((n) => n >= 1 && n <= MAX_SIZE);
  if (!isPossible || audioWidth % audioHeads !== 0) {
    throw new ModelFileError("the header is not that of a whisper model");
  }
  if (form !== "float" && audioWidth !== HEAD_WIDTH * audioHeads) {
    throw new ModelFileError(`its heads are not ${HEAD_WIDTH} wide`);
  }
  if (form !== "float" && form !== "bfloat16" && audioWidth % BYTE_WIDTH !== 0) {
    throw new ModelFileError(`its width is no multiple of ${BYTE_WIDTH}`);
  }
}

/** Removes encoders that were not used for a month, and unfinished ones after a day. */
async function removeUnused(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const isUnfinished = name.startsWith(UNFINISHED_PREFIX);
    const dated = stat(isUnfinished ? path : join(path, DIGEST_NAME));
    const age = await dated.then(({ mtime }) => now - mtime.getTime()).catch(() => 0);
    if (age > (isUnfinished ? DAY_MILLISECONDS : UNUSED_MILLISECONDS)) await rm(path, { recursive: true, force: true });
  }
}

async function nameOf(modelPath: string, form: EncoderForm): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([WRITER_VERSION, form]));
  for await (const bytes of Bun.file(modelPath).stream()) hash.update(bytes);
  return hash.digest("hex").slice(0, 32);
}

async function digestOf(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of [GRAPH_NAME, WEIGHTS_NAME]) {
    for await (const bytes of Bun.file(join(directory, name)).stream()) hash.update(bytes);
  }
  return hash.digest("hex");
}
