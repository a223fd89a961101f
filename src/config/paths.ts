import type { Settings } from "./schema/index.ts";

/** Returns the leaves of nested tables with their dotted paths; a list is a leaf. */
export function flatten(tables: unknown, prefix = ""): [path: string, value: unknown][] {
  if (typeof tables !== "object" || tables === null || Array.isArray(tables)) return [[prefix, tables]];
  return Object.entries(tables).flatMap(([name, child]) => flatten(child, prefix === "" ? name : `${prefix}.${name}`));
}

/** Returns the value of a setting by its dotted path. */
export function settingValue(settings: Settings, path: string): unknown {
  return flatten(settings).find(([each]) => each === path)?.[1];
}

/** Returns tables of values from paths of the form `table.name`. */
export function nest(values: Iterable<readonly [path: string, value: unknown]>): Record<string, object> {
  const root: Record<string, object> = {};
  for (const [path, value] of values) {
    const dot = path.lastIndexOf(".");
    const table = path.slice(0, dot);
    root[table] = { ...root[table], [path.slice(dot + 1)]: value };
  }
  return root;
}
