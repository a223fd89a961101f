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

/** Adds `--config` and the flags of the settings in `paths` to a command. */
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
 * Loads the settings for a command with the options of `addSettingsOptions`.
 * @throws {SettingsError}
 */
export function settingsOf(command: Command): Settings {
  return loadSettings(settingsSourcesOf(command));
}

/**
 * Loads the settings for a command that every user of the machine may run. If the user specified no settings file and
 * may not read the default one of the service, the command runs without it.
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

/** Returns the sources of the settings for a command with the options of `addSettingsOptions`. */
export function settingsSourcesOf(command: Command): SettingsSources {
  const options: Record<string, unknown> = command.opts();
  const flags: Record<string, string> = {};
  for (const entry of flagged) {
    const value = options[camelCase(entry.flag ?? "")];
    if (typeof value === "string") flags[entry.path] = value;
  }
  return { file: settingsFileOf(command), environment: process.env, flags };
}

/** Returns the settings file for a command with the options of `addSettingsOptions`; undefined if there is none. */
export function settingsFileOf(command: Command): string | undefined {
  const { config }: { config?: string } = command.opts();
  return chooseSettingsFile({
    named: config,
    inEnvironment: process.env.TRANSCRIBE_CONFIG,
    defaultFile: defaultSettingsFile,
  });
}

/**
 * Loads the settings of a command that uses the data directory. Root reads the settings as root; afterwards the process
 * runs as the directory's owner. A command calls this before any access to the directory.
 * @throws {SettingsError} @throws {DataDirectoryError} when root can't become the owner
 */
export function dataSettingsOf(command: Command): Settings {
  const settings = settingsOf(command);
  becomeDataOwner(settings);
  return settings;
}

/** Does the same as `dataSettingsOf`, and opens a file that the caller named. For its rights, see becomeOwnerWith. */
export function dataSettingsWith<T extends Disposable | null>(
  command: Command,
  path: string,
  open: (givesUpRights: boolean) => T,
): { readonly settings: Settings; readonly opened: T } {
  const settings = settingsOf(command);
  return { settings, opened: becomeOwnerWith(settings.storage.data_dir, path, open, serviceGroups) };
}

/** Switches a process of root to the data directory's owner, with the groups of its service. See becomeOwner. */
export function becomeDataOwner({ storage }: Pick<Settings, "storage">): void {
  becomeOwner(storage.data_dir, serviceGroups);
}

export function dataDirectoryOf(command: Command): DataDirectory {
  return new DataDirectory(dataSettingsOf(command).storage.data_dir);
}

/** Opens the database for a command that uses nothing else, whether or not a server is running. */
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
