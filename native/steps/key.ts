import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { UPSTREAM } from "../upstream.ts";
import type { NativeTools } from "./tools.ts";

interface KeyOptions {
  nativeDirectory: string;
  repository: string;
  tools: NativeTools;
  /** The architecture to compile for, by Node's name. */
  architecture: string;
}

/** Folders of native/ that are built separately: the GPU backends, ffmpeg, the program that confines it, the launcher. */
export const separateFolders = ["vulkan", "cuda", "confine", "ffmpeg", "launcher"] as const;
export type SeparateFolder = (typeof separateFolders)[number];
/** The folders whose build needs the source of whisper.cpp. The others are built before it is installed. */
const foldersOfWhisper: readonly SeparateFolder[] = ["vulkan", "cuda"];

/**
 * Returns the cache key of the addon: a hash of all inputs of the build. Equal inputs find the cached build, and any
 * change gives a new key.
 * @param variants the CPU variants to build
 *
 * The hash covers the files of native/, the version of the package that contains whisper.cpp, the compiler's version,
 * the platform and the target architecture. It leaves out the folders that are built separately, and .ts and .md files.
 */
export async function nativeKey(options: KeyOptions, variants: readonly string[]): Promise<string> {
  const { nativeDirectory } = options;
  const separate = separateFolders.map((folder) => join(nativeDirectory, folder) + sep);
  const files = (await filesBelow(nativeDirectory)).filter(
    (file) => !separate.some((folder) => file.startsWith(folder)),
  );
  return await digest(options, [await whisperVersion(options)], files, variants);
}

/**
 * Returns the cache key of a folder that is built separately.
 * @param options.files inputs of native/ outside the folder, for example patches
 * @param options.more further inputs, hashed as JSON
 */
export async function backendKey(
  options: KeyOptions & { folder: SeparateFolder; files: readonly string[]; more: unknown },
): Promise<string> {
  const own = await filesBelow(join(options.nativeDirectory, options.folder));
  const versions = foldersOfWhisper.includes(options.folder) ? [await whisperVersion(options)] : [];
  return await digest(options, versions, [...new Set([...own, ...options.files])], options.more);
}

async function filesBelow(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile() && !/\.(?:ts|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the version of the package that contains whisper.cpp. */
async function whisperVersion({ repository }: KeyOptions): Promise<string> {
  const packageFile = join(repository, "node_modules", UPSTREAM.package, "package.json");
  const { version }: { version: string } = JSON.parse(await readFile(packageFile, "utf8"));
  return version;
}

async function digest(
  { architecture, tools, nativeDirectory }: KeyOptions,
  versions: readonly string[],
  files: readonly string[],
  more: unknown,
): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([architecture, process.platform, tools.compilerVersion, ...versions]));
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(JSON.stringify([file.slice(nativeDirectory.length), content.length]));
    hash.update(content);
  }
  if (!Array.isArray(more) || more.length > 0) hash.update(JSON.stringify(more));
  return hash.digest("hex").slice(0, 16);
}
