import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { UPSTREAM } from "../upstream.ts";
import { applyPatch } from "./apply-patch.ts";

/** Returns the path of whisper.cpp's source tree in node_modules. */
export function whisperSource(repository: string): string {
  return join(repository, "node_modules", UPSTREAM.package, UPSTREAM.tree);
}

/** The parts of whisper.cpp's tree that the addon's build needs. The rest is bindings, media and tests. */
const addonParts = ["CMakeLists.txt", "LICENSE", "cmake", "ggml", "include", "src"];

/**
 * Copies whisper.cpp's tree into a new directory and applies native/patches to the copy.
 *
 * @returns the directory
 * @throws {Error} when a patch does not fit the tree
 */
export async function prepareSource(options: {
  repository: string;
  nativeDirectory: string;
  into: string;
}): Promise<string> {
  const patches = await patchFiles(options.nativeDirectory);
  return await copySource({ ...options, parts: addonParts, backends: ["ggml-cpu"], patches });
}

/**
 * Copies ggml with the sources of one GPU backend into a new directory and applies the given patches to the copy.
 * @returns the directory of ggml in the copy
 * @throws {Error} when a patch does not fit the tree
 */
export async function prepareBackendSource(options: {
  repository: string;
  nativeDirectory: string;
  backend: string;
  patches: readonly string[];
  into: string;
}): Promise<string> {
  // The shared sources of all backends include headers of the CPU backend.
  await copySource({ ...options, parts: ["ggml"], backends: ["ggml-cpu", options.backend] });
  return join(options.into, "ggml");
}

async function copySource(options: {
  repository: string;
  into: string;
  parts: readonly string[];
  /** The backends to build. The sources of the others, most of the tree, are not copied. */
  backends: readonly string[];
  patches: readonly string[];
}): Promise<string> {
  const tree = whisperSource(options.repository);
  const ggmlSources = join("ggml", "src");
  await mkdir(options.into, { recursive: true });
  for (const part of options.parts) {
    await cp(join(tree, part), join(options.into, part), {
      recursive: true,
      filter: (path) => {
        const isBackend = basename(path).startsWith("ggml-") && relative(tree, dirname(path)) === ggmlSources;
        return !isBackend || basename(path).includes(".") || options.backends.includes(basename(path));
      },
    });
  }
  for (const patch of options.patches) {
    await applyPatch(options.into, await readFile(patch, "utf8"));
  }
  return options.into;
}

/**
 * Returns the patches below a folder's `patches` in the order in which they apply, that of their paths: purpose by purpose, and
 * by number. Empty when the folder has none.
 */
export async function patchFiles(nativeDirectory: string): Promise<string[]> {
  const directory = join(nativeDirectory, "patches");
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const patches = names.filter((name) => name.endsWith(".patch")).sort();
  return patches.map((name) => join(directory, name));
}

/**
 * Returns the patches of a GPU backend: first the patches of native/patches that change headers shared by all of ggml's
 * libraries, then the backend's own.
 */
export async function backendPatches(nativeDirectory: string, folder: string): Promise<string[]> {
  const shared: string[] = [];
  for (const patch of await patchFiles(nativeDirectory)) {
    if (/^\+\+\+ b\/ggml\/(?:include\/|src\/[^/]+\.h$)/m.test(await readFile(patch, "utf8"))) shared.push(patch);
  }
  return [...shared, ...(await patchFiles(join(nativeDirectory, folder)))];
}
