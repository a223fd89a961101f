import { join, resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { environmentName, findSetting, nest, type SettingEntry, settingEntries } from "./entries.ts";
import { type Origin, type SettingFault, SettingsError, suggest } from "./fault.ts";
import { readFile, type SetValue, type SourceReading, separate } from "./read-file.ts";
import { readText } from "./read-value.ts";
import { type Settings, settingsSchema } from "./schema.ts";

export interface SettingsSources {
  /** TOML file; a missing one is an error. */
  readonly file: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values given as flags, by dotted path. */
  readonly flags: Readonly<Record<string, string>>;
}

/** The settings combined from all sources. */
interface SettingsReading {
  /** Null when there are faults. */
  readonly settings: Settings | null;
  /** Origin of each setting's value, by path; the default when a source's value is invalid. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly faults: readonly SettingFault[];
}

/** Environment variables that start with our prefix but are not settings. */
const notSettings = [
  "TRANSCRIBE_CONFIG",
  "TRANSCRIBE_CACHE",
  "TRANSCRIBE_MODELS_DIR",
  "TRANSCRIBE_API_KEY",
  "TRANSCRIBE_SERVER",
  "TRANSCRIBE_CA",
];

/** Reads the settings: defaults, then the file, the environment and the flags; later sources win. Finds all faults. */
export function readSettings({ file, environment, flags }: SettingsSources): SettingsReading {
  const sources = [file === undefined ? NO_VALUES : readFile(file), readEnvironment(environment), readFlags(flags)];
  const values = new Map<string, unknown>(settingEntries.map((entry) => [entry.path, entry.defaultValue]));
  const origins = new Map<string, Origin>(settingEntries.map((entry) => [entry.path, { type: "default" }]));
  for (const { path, value, origin } of sources.flatMap((source) => source.values)) {
    values.set(path, value);
    origins.set(path, origin);
  }
  const faults = sources.flatMap((source) => source.faults);
  return { settings: faults.length > 0 ? null : Value.Decode(settingsSchema, nest(values)), origins, faults };
}

/** Returns the settings of all sources. @throws {SettingsError} with all faults */
export function loadSettings(sources: SettingsSources): Settings {
  const { settings, faults } = readSettings(sources);
  if (settings === null) throw new SettingsError(faults);
  return settings;
}

const NO_VALUES: SourceReading = { values: [], faults: [] };

function readEnvironment(environment: SettingsSources["environment"]): SourceReading {
  const ours = Object.entries(environment).filter(
    ([name, text]) => name.startsWith("TRANSCRIBE_") && text !== undefined && !notSettings.includes(name),
  );
  return separate(
    ours.map(([name, text = ""]) => {
      const origin: Origin = { type: "environment", name };
      const entry = settingEntries.find((candidate) => candidate.env === name);
      return entry === undefined ? unknownVariable(name, origin) : ofText(entry, text, origin);
    }),
  );
}

/**
 * Returns a fault for an unknown variable with our prefix; otherwise, a misspelt name would silently have no effect.
 */
function unknownVariable(name: string, origin: Origin): SettingFault {
  const byPath = settingEntries.find((entry) => environmentName(entry.path) === name);
  const names = settingEntries.map((entry) => entry.env);
  const suggested = byPath?.env ?? suggest(name, [...names, ...notSettings]);
  return {
    origin,
    setting: null,
    message: `there is no such setting${suggested === null ? "" : `; did you mean ${suggested}?`}`,
  };
}

function readFlags(flags: SettingsSources["flags"]): SourceReading {
  return separate(
    Object.entries(flags).map(([path, text]) => {
      const entry = findSetting(path);
      if (entry === undefined) throw new Error(`there is no setting ${path}`);
      return ofText(entry, text, { type: "flag", name: entry.flag ?? path });
    }),
  );
}

function ofText(entry: SettingEntry, text: string, origin: Origin): SetValue | SettingFault {
  const read = readText(entry, text);
  if (!read.ok) return { origin, setting: entry.path, message: read.message };
  return { path: entry.path, value: read.value, origin };
}

interface RuntimePlace {
  readonly storage: Pick<Settings["storage"], "data_dir" | "runtime_dir">;
}

/**
 * Returns the directory into which a single-file program unpacks its files. It is absolute, because ffmpeg is started
 * in another directory.
 */
export function runtimeDirectoryOf({ storage }: RuntimePlace): string {
  return resolve(storage.runtime_dir || join(storage.data_dir, "runtime"));
}
