import { dirname, join } from "node:path";
import { Glob } from "bun";

/** An import of one file by another; a package is named by its name. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

const transpilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

/** Reads the TypeScript files below a folder. @returns their texts by path, relative to the folder */
export async function readSources(folder: string, pattern = "**/*.{ts,tsx}"): Promise<Map<string, string>> {
  const paths = [...new Glob(pattern).scanSync(folder)].filter((path) => !path.endsWith(".d.ts"));
  return new Map(
    await Promise.all(paths.sort().map(async (path) => [path, await Bun.file(join(folder, path)).text()] as const)),
  );
}

/** Returns the imports that remain when types are erased: our own by paths like the file's, packages by their names. */
export function importsOfValues(file: string, text: string): string[] {
  const found = transpilers[file.endsWith(".tsx") ? "tsx" : "ts"].scanImports(text);
  return found.map(({ path }) => resolved(file, path));
}

export function importsOf(file: string, text: string): Import[] {
  const ofTypes = [...text.matchAll(/(?:\bfrom |\bimport\()"([^"]+)"/g)].map(([, path = ""]) => resolved(file, path));
  return [...new Set([...importsOfValues(file, text), ...ofTypes])].map((to) => ({ from: file, to }));
}

function resolved(file: string, path: string): string {
  return path.startsWith(".") ? join(dirname(file), path) : path;
}

/** Returns the paths that lead from a file back to it, one for each circle that a depth-first search meets. */
export function circlesIn(imports: readonly Import[]): string[] {
  const edges = Map.groupBy(imports, ({ from }) => from);
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    for (const { to } of edges.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of edges.keys()) visit(file, []);
  return circles;
}
