import { dirname, resolve } from "node:path";
import { messageOf } from "../text/index.ts";
import { findSetting, type SettingEntry, settingEntries, settingTables } from "./entries.ts";
import { type Origin, type SettingFault, suggest } from "./fault.ts";
import { readToml, type TomlEntry, TomlError } from "./read-toml.ts";
import { readValue } from "./read-value.ts";
import { readSettingsFile } from "./settings-file.ts";

/** A setting with the value that a source gives it. */
export interface SetValue {
  readonly path: string;
  readonly value: unknown;
  readonly origin: Origin;
}

/** The values that a source sets, and its faults. */
export interface SourceReading {
  readonly values: readonly SetValue[];
  readonly faults: readonly SettingFault[];
}

/** Separates values from faults. */
export function separate(found: readonly (SetValue | SettingFault)[]): SourceReading {
  return {
    values: found.filter((each) => "value" in each),
    faults: found.filter((each) => "message" in each),
  };
}

/** Reads a settings file; relative paths in it are relative to its folder. @param file name as shown in messages */
export function readFile(file: string): SourceReading {
  let entries: readonly TomlEntry[];
  try {
    entries = readToml(readSettingsFile(file));
  } catch (error) {
    const fault: SettingFault =
      error instanceof TomlError
        ? { origin: { type: "file", file, ...error.place }, setting: null, message: error.message }
        : { origin: null, setting: null, message: `${file}: ${messageOf(error)}` };
    return { values: [], faults: [fault] };
  }
  const unknownTables = new Set<string>();
  const found = entries.flatMap((entry): (SetValue | SettingFault)[] => {
    const [table = ""] = entry.path;
    if (unknownTables.has(table)) return [];
    const origin: Origin = { type: "file", file, ...entry.place };
    // A quoted name that contains a dot is not a path.
    const setting = entry.path.some((name) => name.includes(".")) ? undefined : findSetting(entry.path.join("."));
    if (setting !== undefined) return [ofSetting(setting, entry, origin, dirname(resolve(file)))];
    if (entry.source === null) {
      if (entry.path.length === 1 && !isTable(table)) unknownTables.add(table);
      const message = faultOfTable(entry);
      return message === null ? [] : [{ origin, setting: null, message }];
    }
    return [{ origin, setting: entry.path.join("."), message: `there is no such setting${hint(entry.path)}` }];
  });
  return separate(found);
}

function ofSetting(setting: SettingEntry, entry: TomlEntry, origin: Origin, folder: string): SetValue | SettingFault {
  const { path } = setting;
  const read = readValue(setting, entry.value, entry.source ?? "a table");
  if (!read.ok) return { origin, setting: path, message: read.message };
  const { value } = read;
  return { path, value: isPath(setting, value) ? resolve(folder, value) : value, origin };
}

function isPath({ namesPath }: SettingEntry, value: unknown): value is string {
  if (typeof value !== "string" || value === "" || namesPath === null) return false;
  return namesPath === "always" || value.includes("/");
}

function isTable(name: string): boolean {
  return settingTables.some((table) => table.name === name);
}

function faultOfTable({ path, value }: TomlEntry): string | null {
  const name = path.join(".");
  if (path.length > 1 || !isTable(name)) {
    const suggested = suggest(
      name,
      settingTables.map((table) => table.name),
    );
    return `there is no table [${name}]${suggested === null ? "" : `; did you mean [${suggested}]?`}`;
  }
  return Array.isArray(value) ? `a table is written with single brackets: [${name}]` : null;
}

/** Suggests a setting: the same name in another table, or a similarly spelled one. */
function hint(path: readonly string[]): string {
  const fullName = path.join(".");
  const name = path.at(-1) ?? "";
  const elsewhere = settingEntries.filter((entry) => entry.path.endsWith(`.${name}`));
  if (path.length === 1 && isTable(name)) return `; ${name} is a table: [${name}]`;
  const paths = settingEntries.map((entry) => entry.path);
  const [only, ...others] = elsewhere;
  const suggested = only !== undefined && others.length === 0 ? only.path : suggest(fullName, paths);
  if (suggested === null) return "";
  const [table = ""] = suggested.split(".");
  return `; did you mean ${suggested}?${path.length === 2 && path[0] === table ? "" : ` It belongs to the table [${table}].`}`;
}
