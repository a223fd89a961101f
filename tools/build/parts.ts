import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeCacheEntry } from "../../src/files/index.ts";
import { builtInPath, productCatalogue } from "../../src/models/index.ts";
import {
  digestFile,
  type EmbeddedPart,
  type ProgramFiles,
  programFiles,
  unpackedLayout,
} from "../../src/program/index.ts";
import { isOwnFfmpeg } from "../development/ffmpeg.ts";

/** A file of the checkout that the program contains and unpacks. */
export interface PartSource {
  /** Path after unpacking. */
  readonly path: string;
  readonly source: string;
  readonly executable: boolean;
}

/**
 * Returns all files that the program contains besides code, sorted by path.
 * @throws {Error} when ffmpeg was not compiled from the pinned sources: its contents and licence are then unknown
 * @throws {Error} when a model is not the file that releases contain
 */
export async function partSources(architecture: string, files?: ProgramFiles): Promise<PartSource[]> {
  const chosen = files ?? (await programFiles(""));
  const sha256 = await digestFile(chosen.ffmpeg, "sha256");
  if (!(await isOwnFfmpeg(sha256, architecture))) {
    throw new Error(
      `the program cannot include the ffmpeg of this checkout, SHA-256 ${sha256}: it was not compiled for ` +
        `${architecture} from the pinned sources; run scripts/setup with access to a mirror of Debian`,
    );
  }
  for (const { id, file, sha256, path } of builtInFiles(chosen)) await requireWeights(id, { file, sha256, path });
  return programParts(chosen);
}

function builtInFiles(files: ProgramFiles) {
  const catalogue = productCatalogue();
  return catalogue.flatMap((entry) => {
    const path = builtInPath(entry, files);
    return path === null ? [] : [{ id: entry.id, file: entry.file, sha256: entry.sha256, path }];
  });
}

/**
 * Checks that a model is the file that all releases contain. A checkout also accepts the publisher's file.
 * @throws {Error} with the way to the right file
 */
export async function requireWeights(
  id: string,
  { file, sha256, path }: { readonly file: string; readonly sha256: string | undefined; readonly path: string },
): Promise<void> {
  const found = await digestFile(path, "sha256");
  if (found === sha256) return;
  throw new Error(
    `the program cannot include the ${id} of this checkout, SHA-256 ${found}: releases contain ${sha256}; delete ` +
      `${dirname(realpathSync(path))} and run scripts/setup with access to PyPI, or with ${file} in TRANSCRIBE_MODELS_DIR`,
  );
}

/** Returns all files that a program made of these would contain besides code, sorted by path. */
export function programParts({ nativeDirectory: native, onnxBinding: onnx, ...single }: ProgramFiles): PartSource[] {
  const { nativeDirectory, onnxBinding } = unpackedLayout;
  const names = ["ffmpeg", "confine", "speechModel", "segmentationModel", "embeddingModel", "benchRecording"] as const;
  const parts = [
    ...directoryParts(native, nativeDirectory),
    ...directoryParts(dirname(onnx), dirname(onnxBinding)),
    ...names.map((name) => part(single[name], unpackedLayout[name])),
  ];
  return parts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function directoryParts(source: string, target: string): PartSource[] {
  return readdirSync(source).map((name) => part(join(source, name), join(target, name)));
}

function part(source: string, path: string): PartSource {
  return {
    path,
    source: realpathSync(source),
    executable: /^(ffmpeg|confine)$|\.(node|so)(\.\d+)*$/.test(basename(path)),
  };
}

/**
 * Level of zstd. Level 19 makes the program 4 % smaller, in three minutes instead of six seconds (level 9, two cores).
 */
const level = 9;

/** A part, and its zstd frame in a file of its own. */
export interface PackedPart extends Omit<EmbeddedPart, "offset" | "packedBytes"> {
  readonly packed: string;
}

/** Compresses a part, or takes it from the cache. */
export async function packPart({ path, source, executable }: PartSource, cacheRoot: string): Promise<PackedPart> {
  const { sha256, packed } = await packFile(source, cacheRoot);
  return { path, bytes: Bun.file(source).size, sha256, executable, packed };
}

/**
 * Compresses a file, or takes it from the cache, which stores it by its digest.
 * @returns the file's digest, and the path of its zstd frame
 */
export async function packFile(source: string, cacheRoot: string): Promise<Pick<PackedPart, "sha256" | "packed">> {
  const sha256 = await digestFile(source, "sha256");
  const name = `${sha256}.zst`;
  const entry = join("packed", `${sha256}-${level}-${Bun.version}`);
  const packed = join(cacheRoot, entry, name);
  if (await Bun.file(packed).exists()) return { sha256, packed };
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    await Bun.write(join(directory, name), await Bun.zstdCompress(await Bun.file(source).bytes(), { level }));
  });
  return { sha256, packed: join(folder, name) };
}
