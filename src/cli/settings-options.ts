import { accessSync, constants } from "node:fs";
import type { Command } from "commander";
import {
  chooseSettingsFile,
  defaultSettingsFile,
  loadSettings,
  type Settings,
  type SettingsSources,
  settingEntries,
} from "../config/index.ts";
import { serviceGroups } from "../install/index.ts";
import {
  becomeOwner,
  becomeOwnerWith,
  DataDirectory,
  openDatabaseOf,
  type Store,
  type Upgrade,
} from "../storage/index.ts";

const flagged = settingEntries.filter((entry) => entry.flag !== null);

/** Adds `--config` and the flags of settings to a command: all of them, or those named by their paths. */
export function addSettingsOptions(command: Command, paths: readonly string[]): Command {
  command.option(
    "--config <file>",
    `settings file, TOML (environment: TRANSCRIBE_CONFIG; default: ${defaultSettingsFile} where it is there)`,
  );
  for (const entry of flagged.filter((candidate) => paths.includes(candidate.path))) {
    command.option(
      `${entry.flag} <value>`,
      `${entry.description} (default: ${entry.defaultValue}; environment: ${entry.env})`,
    );
  }
  return command;
}

/**
 * The settings for a command that was given `addSettingsOptions`.
 * @throws {SettingsError}
 */
export function settingsOf(command: Command): Settings {
  return loadSettings(settingsSourcesOf(command));
}

/**
 * The settings for a command that everybody of a machine may use: who may not read the file of its service, and named none,
 * goes on without it.
 * @throws {SettingsError}
 */
export function settingsForAll(command: Command): Settings {
  const sources = settingsSourcesOf(command);
  const isNamed = command.opts().config !== undefined || process.env.TRANSCRIBE_CONFIG !== undefined;
  if (sources.file === undefined || isNamed || isReadable(sources.file)) return loadSettings(sources);
  return loadSettings({ ...sources, file: undefined });
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where the settings of such a command come from. */
export function settingsSourcesOf(command: Command): SettingsSources {
  const options: Record<string, unknown> = command.opts();
  const flags: Record<string, string> = {};
  for (const entry of flagged) {
    const value = options[camelCase(entry.flag ?? "")];
    if (typeof value === "string") flags[entry.path] = value;
  }
  return { file: settingsFileOf(command), environment: process.env, flags };
}

/** The settings file of such a command; undefined where there is none. */
export function settingsFileOf(command: Command): string | undefined {
  const { config }: { config?: string } = command.opts();
  return chooseSettingsFile({
    named: config,
    inEnvironment: process.env.TRANSCRIBE_CONFIG,
    defaultFile: defaultSettingsFile,
  });
}

/**
 * The settings of a command that works in the data directory. Root reads them, and is the directory's owner from here on, so
 * a command calls this before it looks at anything in there.
 * @throws {SettingsError} @throws {DataDirectoryError} where root may not become the owner
 */
export function dataSettingsOf(command: Command): Settings {
  const settings = settingsOf(command);
  becomeDataOwner(settings);
  return settings;
}

/** The same for a command that also opens a file which the caller named, with the caller's rights. See becomeOwnerWith. */
export function dataSettingsWith<T extends Disposable | null>(
  command: Command,
  path: string,
  open: (givesUpRights: boolean) => T,
): { readonly settings: Settings; readonly opened: T } {
  const settings = settingsOf(command);
  return { settings, opened: becomeOwnerWith(settings.storage.data_dir, path, open, serviceGroups) };
}

/** Makes root the data directory's owner, with the groups that its service has. See becomeOwner. */
export function becomeDataOwner({ storage }: Pick<Settings, "storage">): void {
  becomeOwner(storage.data_dir, serviceGroups);
}

export function dataDirectoryOf(command: Command): DataDirectory {
  return new DataDirectory(dataSettingsOf(command).storage.data_dir);
}

/** The database of a command that works on nothing else, with the server up or down. */
export function openStoreOf(command: Command): Store {
  return openStoreIn(dataDirectoryOf(command));
}

export function openStoreIn(directory: DataDirectory): Store {
  return openDatabaseOf(directory, sayUpgrade);
}

function sayUpgrade({ fromVersion, toVersion, backup }: Upgrade): void {
  process.stderr.write(`the database was brought from ${fromVersion} to ${toVersion}; as it was before: ${backup}\n`);
}

function camelCase(flag: string): string {
  return flag.replace(/^--/, "").replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
