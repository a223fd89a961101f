import { constants } from "node:fs";
import { copyFile, open, readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { tar } from "../files/index.ts";
import { readBundle } from "./bundle.ts";
import { convertCtranslate2 } from "./convert/convert-ctranslate2.ts";
import { digestsOf } from "./digests.ts";
import {
  type InstallOptions,
  identify,
  installModel,
  type NewModel,
  requireFreeId,
  requireLoadable,
} from "./install-model.ts";
import type { InstalledModel } from "./library.ts";
import { ModelError, requireSpace } from "./model-error.ts";

const IMPORT_HINT =
  ". import accepts a Whisper or Parakeet model in ggml format (.bin), a faster-whisper directory, or a bundle";

/** Formats of the same models that are not imported, by file name. */
const otherFormats: readonly { readonly name: RegExp; readonly reason: string }[] = [
  {
    name: /\.onnx(?:\.data)?$/i,
    reason: "in ONNX form, 8-bit weights lose many words. Import the ggml form; its q8_0 weights lose none",
  },
  {
    name: /\.nemo$/i,
    reason: "convert it to ggml with whisper.cpp's models/convert-parakeet-to-ggml.py first, on a machine with PyTorch",
  },
];

export interface ImportOptions extends InstallOptions {
  /** Id for a model that the catalogue does not know; by default derived from the file name. */
  readonly name: string | undefined;
  readonly onProgress: (doing: "convert" | "copy" | "check", done: number, total: number) => void;
}

/**
 * Imports a local path: a model in ggml format, a directory in faster-whisper's format, which is converted, or
 * a bundle. No model is installed before all models of the path are checked.
 * @throws {ModelError}
 */
export async function importModels(path: string, options: ImportOptions): Promise<InstalledModel[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new ModelError(`there is no file or directory ${path}`);
  return await options.library.withFolder(async (folder) => {
    if (found.isDirectory()) return [await importDirectory(path, folder, options)];
    if (!found.isFile()) throw new ModelError(`${path} is neither a file nor a directory`);
    refuseOtherFormat(path);
    if (await isTarFile(path)) return await importBundle(path, folder, options);
    return [await importFile(path, found.size, folder, options)];
  });
}

/** @throws {ModelError} with the reason if the name of a file is that of a format that is not imported */
function refuseOtherFormat(path: string): void {
  const other = otherFormats.find(({ name }) => name.test(path));
  if (other !== undefined) throw new ModelError(`${path} is not imported: ${other.reason}`);
}

async function importFile(path: string, size: number, folder: string, options: ImportOptions): Promise<InstalledModel> {
  // Rejects an invalid file before it is copied. The copy gets installed, so `installModel` inspects the copy again.
  requireLoadable(path, options.inspect, IMPORT_HINT);
  await requireSpace(folder, size);
  const file = join(folder, "model.bin");
  await copyFile(path, file, constants.COPYFILE_FICLONE);
  const digests = await digestsOf(file, (done) => options.onProgress("check", done, size));
  return await install({ file, digests, from: basename(path) }, options.name ?? nameOf(path), options);
}

async function importDirectory(path: string, folder: string, options: ImportOptions): Promise<InstalledModel> {
  const weights = join(path, "model.bin");
  const found = await stat(weights).catch(() => null);
  if (found === null) {
    for (const name of await readdir(path)) refuseOtherFormat(join(path, name));
    throw new ModelError(
      `${path} has no model.bin; a faster-whisper directory has model.bin and vocabulary.json or .txt`,
    );
  }
  // int8 weights need twice the disk space in float16.
  await requireSpace(folder, 2 * found.size);
  options.onProgress("convert", 0, found.size);
  const file = join(folder, "model.bin");
  await convertCtranslate2({ modelFiles: [weights], vocabularyDirectory: path }, file);
  const digests = await digestsOf(file, (done) => options.onProgress("check", done, Bun.file(file).size));
  const from = `${basename(resolve(path))}, converted`;
  return await install({ file, digests, from }, options.name ?? nameOf(path), options);
}

async function importBundle(path: string, folder: string, options: ImportOptions): Promise<InstalledModel[]> {
  if (options.name !== undefined) throw new ModelError("a bundle has the names of its models; omit --name");
  const unpacked = await readBundle(path, folder, (done, total) => options.onProgress("copy", done, total));
  for (const { id, file, digests } of unpacked) {
    requireLoadable(file, options.inspect, IMPORT_HINT);
    const known = identify(digests, id, options.catalogue);
    if (known.id !== id) throw new ModelError(`the bundle's ${id} is really ${known.id}`);
    requireFreeId(id, digests, options.library);
  }
  const installed: InstalledModel[] = [];
  for (const { id, file, digests } of unpacked) {
    installed.push(await install({ file, digests, from: basename(path) }, id, options));
  }
  return installed;
}

async function install(model: NewModel, name: string, options: ImportOptions): Promise<InstalledModel> {
  const { library, catalogue } = options;
  using _lock = await library.lock(identify(model.digests, name, catalogue).id);
  return await installModel(model, name, options);
}

async function isTarFile(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const { buffer } = await file.read(Buffer.alloc(tar.BLOCK_BYTES), 0, tar.BLOCK_BYTES, 0);
  return tar.isTar(buffer);
}

/**
 * Derives an id from a path: `ggml-small-q5_1.bin` becomes whisper-small-q5_1, `ggml-parakeet-v3.bin` parakeet-v3, and
 * `faster-whisper-small` is unchanged.
 */
function nameOf(path: string): string {
  const stem = basename(resolve(path)).replace(/\.bin$/i, "");
  const name = stem
    // Whisper's files are named by size alone.
    .replace(/^ggml-(?!whisper|parakeet)/i, "whisper-")
    .replace(/^ggml-/i, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-");
  return name.replace(/^[^a-z0-9]+/, "").slice(0, 80) || "model";
}
