import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One change of a unified diff: what stands there, and what shall. */
interface Hunk {
  /** Zero-based line in the old file that it is said to begin at. */
  readonly line: number;
  readonly before: string[];
  readonly after: string[];
}

/**
 * Applies a unified diff to a tree, as `patch -p1` would, which not every machine with a compiler has. A hunk goes to the
 * place nearest to its line number where all of its old lines stand; one for line 0 makes its file.
 *
 * Throws an Error where a hunk fits nowhere; the tree is not to be used then.
 */
export async function applyPatch(tree: string, patch: string): Promise<void> {
  for (const [file, hunks] of parsePatch(patch)) {
    const path = join(tree, file);
    const [first] = hunks;
    if (first?.line === -1) {
      await writeFile(path, `${first.after.join("\n")}\n`, { flag: "wx" });
      continue;
    }
    const lines = (await readFile(path, "utf8")).split("\n");
    let shift = 0;
    for (const hunk of hunks) {
      const at = findHunk(lines, hunk, hunk.line + shift);
      if (at < 0) throw new Error(`a patch does not fit ${file} at line ${hunk.line + 1}: ${hunk.before[0] ?? ""}`);
      lines.splice(at, hunk.before.length, ...hunk.after);
      shift = at - hunk.line + hunk.after.length - hunk.before.length;
    }
    await writeFile(path, lines.join("\n"));
  }
}

function parsePatch(patch: string): Map<string, Hunk[]> {
  const files = new Map<string, Hunk[]>();
  let hunks: Hunk[] = [];
  let hunk: Hunk | undefined;
  for (const line of patch.split("\n")) {
    const file = /^\+\+\+ b\/(\S+)/.exec(line)?.[1];
    const start = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/.exec(line)?.[1];
    if (file !== undefined) {
      hunks = [];
      files.set(file, hunks);
      hunk = undefined;
    } else if (start !== undefined) {
      hunk = { line: Number(start) - 1, before: [], after: [] };
      hunks.push(hunk);
    } else if (/^--- (?:a\/|\/dev\/null)/.test(line)) {
      hunk = undefined;
    } else if (hunk !== undefined && /^[ +-]/.test(line)) {
      if (!line.startsWith("+")) hunk.before.push(line.slice(1));
      if (!line.startsWith("-")) hunk.after.push(line.slice(1));
    }
  }
  if (files.size === 0) throw new Error("a patch names no file");
  return files;
}

function findHunk(lines: readonly string[], { before }: Hunk, expected: number): number {
  const fits = (at: number) => at >= 0 && before.every((line, index) => lines[at + index] === line);
  for (let distance = 0; distance <= lines.length; distance++) {
    if (fits(expected - distance)) return expected - distance;
    if (fits(expected + distance)) return expected + distance;
  }
  return -1;
}
