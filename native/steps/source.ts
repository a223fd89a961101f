import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { applyPatch } from "./apply-patch.ts";

/** Where whisper.cpp's source tree lies among the installed packages. */
export function whisperSource(repository: string): string {
  return join(repository, "node_modules", "nodejs-whisper", "cpp", "whisper.cpp");
}

/** What of the tree takes part in a build; the rest is bindings, media and tests. */
const parts = ["CMakeLists.txt", "LICENSE", "cmake", "ggml", "include", "src"];

/** Backends that are built; the others' sources, most of the tree, are left out of the copy. */
const backends = new Set(["ggml-cpu"]);

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
  const tree = whisperSource(options.repository);
  const ggmlSources = join("ggml", "src");
  await mkdir(options.into, { recursive: true });
  for (const part of parts) {
    await cp(join(tree, part), join(options.into, part), {
      recursive: true,
      filter: (path) => {
        const isBackend = basename(path).startsWith("ggml-") && relative(tree, dirname(path)) === ggmlSources;
        return !isBackend || basename(path).includes(".") || backends.has(basename(path));
      },
    });
  }
  for (const patch of await patchFiles(options.nativeDirectory)) {
    await applyPatch(options.into, await readFile(patch, "utf8"));
  }
  return options.into;
}

/** The patches, in the order in which they apply. */
export async function patchFiles(nativeDirectory: string): Promise<string[]> {
  const directory = join(nativeDirectory, "patches");
  const names = (await readdir(directory)).filter((name) => name.endsWith(".patch")).sort();
  return names.map((name) => join(directory, name));
}
