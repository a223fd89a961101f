import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { whisperSource } from "./source.ts";
import type { NativeTools } from "./tools.ts";

interface KeyOptions {
  nativeDirectory: string;
  repository: string;
  tools: NativeTools;
  /** What is compiled for, by Node's name. */
  architecture: string;
}

/** Folders of native/ that are built on their own: the GPU backends, and the program that confines ffmpeg. */
export const separateFolders = ["vulkan", "cuda", "confine"] as const;
export type SeparateFolder = (typeof separateFolders)[number];

/**
 * The name of a build: a hash of all that shapes it, so that the same input finds the same build and any change
 * makes another one.
 *
 * Part of it are the files of native/ but for these scripts and pages, which decide on no flag, and for the folders that are built on
 * their own, the version of the package that brings whisper.cpp, the compiler and the kind of machine that is compiled for.
 */
export async function nativeKey(options: KeyOptions): Promise<string> {
  const { nativeDirectory } = options;
  const separate = separateFolders.map((folder) => join(nativeDirectory, folder) + sep);
  const files = (await filesBelow(nativeDirectory)).filter(
    (file) => !separate.some((folder) => file.startsWith(folder)),
  );
  return await digest(options, files, []);
}

/**
 * The same for a folder that is built on its own.
 * @param files of native/ outside its folder, such as patches @param more what else shapes it
 */
export async function backendKey(
  options: KeyOptions & { folder: SeparateFolder; files: readonly string[]; more: unknown },
): Promise<string> {
  const own = await filesBelow(join(options.nativeDirectory, options.folder));
  return await digest(options, [...new Set([...own, ...options.files])], options.more);
}

async function filesBelow(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile() && !/\.(?:ts|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function digest(options: KeyOptions, files: readonly string[], more: unknown): Promise<string> {
  const hash = createHash("sha256");
  const packageFile = join(whisperSource(options.repository), "..", "..", "package.json");
  const { version }: { version: string } = JSON.parse(await readFile(packageFile, "utf8"));
  hash.update(JSON.stringify([options.architecture, process.platform, options.tools.compilerVersion, version]));
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(JSON.stringify([file.slice(options.nativeDirectory.length), content.length]));
    hash.update(content);
  }
  if (!Array.isArray(more) || more.length > 0) hash.update(JSON.stringify(more));
  return hash.digest("hex").slice(0, 16);
}
