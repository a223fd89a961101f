import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { applyPatch } from "./apply-patch.ts";

/** Where whisper.cpp's source tree lies among the installed packages. */
export function whisperSource(repository: string): string {
  return join(repository, "node_modules", "nodejs-whisper", "cpp", "whisper.cpp");
}

/** What of the tree takes part in the addon's build; the rest is bindings, media and tests. */
const addonParts = ["CMakeLists.txt", "LICENSE", "cmake", "ggml", "include", "src"];

/**
 * Copies whisper.cpp's tree into a new directory and applies native/patches to the copy.
 *
 * Returns the directory. Throws where a patch no longer fits the tree.
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
 * Copies ggml's part of the tree, with the sources of one GPU backend, into a new directory, and applies to it
 * the patches that concern it. Returns the directory, as it lies in the tree.
 */
export async function prepareBackendSource(options: {
  repository: string;
  nativeDirectory: string;
  backend: string;
  patches: readonly string[];
  into: string;
}): Promise<string> {
  // What all backends share includes headers of the CPU's.
  await copySource({ ...options, parts: ["ggml"], backends: ["ggml-cpu", options.backend] });
  return join(options.into, "ggml");
}

async function copySource(options: {
  repository: string;
  into: string;
  parts: readonly string[];
  /** Those that are built; the others' sources, most of the tree, are left out of the copy. */
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

/** The patches of a folder, in the order in which they apply; none where it has none. */
export async function patchFiles(nativeDirectory: string): Promise<string[]> {
  const directory = join(nativeDirectory, "patches");
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".patch")).sort();
  return names.map((name) => join(directory, name));
}

/**
 * The patches that a GPU backend is built with: its own, and those of native/patches that change what all of ggml's
 * libraries share.
 */
export async function backendPatches(nativeDirectory: string, folder: string): Promise<string[]> {
  const shared: string[] = [];
  for (const patch of await patchFiles(nativeDirectory)) {
    if (/^\+\+\+ b\/ggml\/(?:include\/|src\/[^/]+\.h$)/m.test(await readFile(patch, "utf8"))) shared.push(patch);
  }
  return [...shared, ...(await patchFiles(join(nativeDirectory, folder)))];
}
