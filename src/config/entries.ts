import { Kind, type TObject, type TSchema } from "@sinclair/typebox";
import { type Settings, settingsSchema } from "./schema.ts";
import type { SettingAnnotations } from "./setting-types.ts";
import type { Unit } from "./units.ts";

/** One setting, as used by the loader, the flags and the documentation. */
export interface SettingEntry {
  /** Dotted path in the file, e.g. `server.port`. */
  readonly path: string;
  readonly env: string;
  readonly flag: string | null;
  readonly schema: TSchema;
  readonly description: string;
  /** Unit of its number, if the setting may be written with a unit. */
  readonly unit: Unit | null;
  /** Whether its text is a path: always, only if it contains a slash, or never (null). */
  readonly namesPath: "always" | "with slash" | null;
  /** Whether a running server applies a new value. */
  readonly reload: boolean;
  readonly defaultValue: unknown;
}

/** A table of the settings file. */
export interface SettingTable {
  readonly name: string;
  readonly description: string;
  readonly entries: readonly SettingEntry[];
}

/** All tables with their settings, in the order of the schema. */
export const settingTables: readonly SettingTable[] = Object.entries(settingsSchema.properties).map(
  ([name, table]: [string, TObject]) => ({
    name,
    description: table.description ?? "",
    entries: Object.entries(table.properties).map(([key, schema]) => entryOf(`${name}.${key}`, schema)),
  }),
);

/** All settings in the order of the schema. */
export const settingEntries: readonly SettingEntry[] = settingTables.flatMap(({ entries }) => entries);

/** Returns the setting of a dotted path. */
export function findSetting(path: string): SettingEntry | undefined {
  return settingEntries.find((entry) => entry.path === path);
}

/** Returns the environment variable that a path maps to, unless the setting has a shorter one. */
export function environmentName(path: string): string {
  return `TRANSCRIBE_${path.replaceAll(".", "_").toUpperCase()}`;
}

/** Returns the kind of a setting's type, e.g. `Integer`; a choice is a `Union`. */
export function kindOf(schema: TSchema): string {
  return schema[Kind];
}

function entryOf(path: string, schema: TSchema): SettingEntry {
  const annotations = schema as TSchema & SettingAnnotations & { unit?: Unit; path?: SettingEntry["namesPath"] };
  return {
    path,
    env: annotations.env ?? environmentName(path),
    flag: annotations.flag ?? null,
    schema,
    description: annotations.description,
    unit: annotations.unit ?? null,
    namesPath: annotations.path ?? null,
    reload: annotations.needsRestart !== true,
    defaultValue: schema.default,
  };
}

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
