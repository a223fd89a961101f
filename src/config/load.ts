import { readFileSync } from "node:fs";
import { Kind, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse, TomlError } from "smol-toml";
import { type SettingEntry, settingEntries } from "./entries.ts";
import { flatten, nest } from "./paths.ts";
import { type Settings, settingsSchema } from "./schema/index.ts";

/** A setting that can't be used; the message says which one, where it came from and what it takes. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export interface LoadSettingsOptions {
  /** TOML file; a missing one is an error only when it was asked for by name. */
  readonly file: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values given as flags, by dotted path. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Environment variables that start with our prefix but are no setting. */
const notSettings = new Set([
  "TRANSCRIBE_CONFIG",
  "TRANSCRIBE_CACHE",
  "TRANSCRIBE_MODELS_DIR",
  "TRANSCRIBE_API_KEY",
  "TRANSCRIBE_SERVER",
  "TRANSCRIBE_CA",
]);

/**
 * Reads the settings: defaults, then the file, then the environment, then flags; the later wins.
 * @throws {SettingsError} for an unknown key, an unreadable file or a value out of its range
 */
export function loadSettings(options: LoadSettingsOptions): Settings {
  const values = new Map<string, unknown>(settingEntries.map((entry) => [entry.path, entry.defaultValue]));
  if (options.file !== undefined) for (const [path, value] of readFile(options.file)) values.set(path, value);
  for (const [path, value] of readEnvironment(options.environment)) values.set(path, value);
  for (const [path, text] of Object.entries(options.flags)) {
    const entry = settingEntries.find((candidate) => candidate.path === path);
    if (entry === undefined) throw new SettingsError(`unknown setting ${path}`);
    values.set(path, parseText(entry, text, entry.flag ?? path));
  }
  const settings = nest(values);
  const error = Value.Errors(settingsSchema, settings).First();
  if (error !== undefined) throw new SettingsError(`${error.path.slice(1).replaceAll("/", ".")}: ${error.message}`);
  return Value.Decode(settingsSchema, settings);
}

function readFile(file: string): [string, unknown][] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingsError(`can't read the settings file ${file}: ${error instanceof Error ? error.message : error}`);
  }
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (error) {
    if (error instanceof TomlError) throw new SettingsError(`${file}: ${error.message}`);
    throw error;
  }
  return flatten(parsed).map(([path, value]) => {
    const entry = settingEntries.find((candidate) => candidate.path === path);
    if (entry === undefined) throw new SettingsError(`${file}: unknown setting ${path}${suggestion(path)}`);
    return [path, checked(entry, value, `${file}: ${path}`)];
  });
}

function readEnvironment(environment: LoadSettingsOptions["environment"]): [string, unknown][] {
  return Object.entries(environment).flatMap(([name, text]): [string, unknown][] => {
    if (!name.startsWith("TRANSCRIBE_") || notSettings.has(name) || text === undefined) return [];
    const entry = settingEntries.find((candidate) => candidate.env === name);
    if (entry === undefined) throw new SettingsError(`unknown environment variable ${name}`);
    return [[entry.path, parseText(entry, text, name)]];
  });
}

function parseText(entry: SettingEntry, text: string, origin: string): unknown {
  return checked(entry, parsedValue(entry.schema, text), origin);
}

/** A value as the environment and flags write it; lists with commas. */
function parsedValue(schema: TSchema, text: string): unknown {
  switch (schema[Kind]) {
    case "Integer":
      return text.trim() === "" ? text : Number(text);
    case "Boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "Array":
      return text === "" ? [] : text.split(",").map((item) => item.trim());
    default:
      return text;
  }
}

function checked(entry: SettingEntry, value: unknown, origin: string): unknown {
  if (Value.Check(entry.schema, value)) return value;
  throw new SettingsError(`${origin}: ${JSON.stringify(value)} is not allowed; it takes ${expected(entry.schema)}`);
}

function expected(schema: TSchema): string {
  if (schema[Kind] === "Integer") return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema[Kind] === "Boolean") return "true or false";
  if (schema[Kind] === "Array") return "a list of texts";
  if (schema[Kind] === "Union") {
    return `one of ${(schema.anyOf as TSchema[]).map((choice) => String(choice.const)).join(", ")}`;
  }
  return "text";
}

function suggestion(path: string): string {
  const name = path.split(".").at(-1) ?? path;
  const match = settingEntries.find((entry) => entry.path.endsWith(`.${name}`) || entry.path.startsWith(`${path}.`));
  return match === undefined ? "" : `; did you mean ${match.path}?`;
}
