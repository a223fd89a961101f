import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf, readSources } from "../../harness/source-files.ts";
import { sizeOf } from "./select-tests.ts";

/** Folders whose files import each other by relative paths. */
const FOLDERS = "{sdk,src,native,tools,harness,test}";
/** Folders whose files have their tests at the same path below test/; the files of tools/ mostly below test/scripts/. */
const MIRRORED: readonly (readonly [folder: string, tests: string])[] = [
  ["src/", "test/"],
  ["tools/", "test/scripts/"],
  ["native/", "test/native/"],
  ["sdk/typescript/src/", "test/sdk/"],
];

/**
 * Returns the tests of changed files, from a list of test files. Those are the changed tests, the unit tests whose
 * imports lead to a changed file, and tests of the sizes integration and model that import it directly or lie in the
 * folder of its tests. A test that reaches the file only through a server or an entry point is not among them, because
 * nearly every test does.
 * @param changed paths relative to the root
 */
export async function testsOfChange(
  root: string,
  changed: readonly string[],
  tests: readonly string[],
): Promise<string[]> {
  const importers = await importersIn(root);
  const direct = new Set(changed.flatMap((file) => [file, ...(importers.get(file) ?? [])]));
  const reached = new Set(changed);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  const folders = new Set(changed.flatMap((file) => folderOfTests(root, file) ?? []));
  return tests.filter((test) => {
    const file = test.replace(/^\.\//, "");
    if (changed.includes(file)) return true;
    const size = sizeOf(file);
    if (size === "unit") return reached.has(file);
    return (size === "integration" || size === "model") && (direct.has(file) || folders.has(dirname(file)));
  });
}

/** Returns the folder of the tests of a file: the one in the same place, or the nearest above it that exists. */
function folderOfTests(root: string, file: string): string | null {
  const [folder, tests] = MIRRORED.find(([prefix]) => file.startsWith(prefix)) ?? [];
  if (folder === undefined || tests === undefined) return null;
  let path = dirname(join(tests, file.slice(folder.length)));
  while (!existsSync(join(root, path))) path = dirname(path);
  return path === "test" || path === "test/scripts" ? null : path;
}

/** Returns the files that import each file directly, also those that import only its types. */
async function importersIn(root: string): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>();
  for (const [file, text] of await readSources(root, `${FOLDERS}/**/*.{ts,tsx}`)) {
    for (const { to } of importsOf(file, text)) importers.set(to, [...(importers.get(to) ?? []), file]);
  }
  return importers;
}
