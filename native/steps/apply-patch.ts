import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyPatch as applyTo, parsePatch } from "diff";

/**
 * Applies a unified diff to a tree, like `patch -p1`. Does not run `patch`, because some machines with a compiler lack
 * it. Text before the first file is a comment. A hunk applies to the exactly matching lines nearest to its line number.
 * @throws {Error} when a hunk does not fit or a new file already exists; the tree must not be used afterwards
 */
export async function applyPatch(tree: string, patch: string): Promise<void> {
  for (const changes of parsePatch(patch.slice(patch.search(/^--- /m)))) {
    const file = changes.newFileName?.replace(/^b\//, "") ?? "";
    const path = join(tree, file);
    const isNew = changes.oldFileName === "/dev/null";
    const changed = applyTo(isNew ? "" : await readFile(path, "utf8"), changes, { fuzzFactor: 0 });
    if (changed === false) throw new Error(`a patch does not fit ${file}; update its hunks (native/README.md)`);
    await writeFile(path, changed, isNew ? { flag: "wx" } : {});
  }
}
