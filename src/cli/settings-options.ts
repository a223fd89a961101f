import { accessSync, constants } from "node:fs";
import { Command, Option } from "commander";
import {
  chooseSettingsFile,
  defaultSettingsFile,
  loadSettings,
  readText,
  type Settings,
  type SettingsSources,
  settingEntries,
} from "../config/index.ts";
import { openDatabaseOf, type Store } from "../database/index.ts";
import { serviceGroups } from "../install/index.ts";
import { becomeOwner, becomeOwnerWith, DataDirectory } from "../storage/index.ts";
import { noteOpened } from "./change-confirmation.ts";
import { UsageError } from "./command-error.ts";

/** Settings that are flags of the commands that start a server. */
export const serveFlags: readonly string[] = [
  "server.host",
  "server.port",
  "storage.data_dir",
  "log.level",
  "fleet.broker",
];

const flaggedEntries = settingEntries.flatMap((entry) =>
  entry.flag === null ? [] : [{ entry, attribute: new Option(`${entry.flag} <value>`).attributeName() }],
);

/** Creates a command with the flags of some settings, by default of the data directory, and with `--json`. */
export function settingsCommand(
  name: string,
  description: string,
  settings: readonly string[] = ["storage.data_dir"],
): Command {
  return addSettingsOptions(new Command(name), settings)
    .description(description)
    .option("--json", "print the result as JSON");
}

/** Adds `--config` and the flags of the settings in `paths` to a command. */
export function addSettingsOptions(command: Command, paths: readonly string[]): Command {
  command.option(
    "--config <file>",
    `settings file, TOML (environment: TRANSCRIBE_CONFIG; default: ${defaultSettingsFile} if it exists)`,
  );
  for (const { entry } of flaggedEntries.filter((flagged) => paths.includes(flagged.entry.path))) {
    const shownDefault = entry.defaultValue === "" ? "" : `default: ${entry.defaultValue}; `;
    const description = `${entry.description} (${shownDefault}environment: ${entry.env})`;
    command.option(`${entry.flag} <value>`, description, (text) => {
      const read = readText(entry, text);
      if (read.ok) return text;
      // The message hides the passwords of links, and commander's would not.
      throw new UsageError(`${entry.flag}: ${read.message}`);
    });
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
  return loadSettings(isNamed || isReadable(sources.file ?? "") ? sources : { ...sources, file: undefined });
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
  for (const { entry, attribute } of flaggedEntries) {
    const value = options[attribute];
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
  return DataDirectory.of(dataSettingsOf(command));
}

/** Opens the database for a command that uses nothing else, whether or not a server is running. */
export function openStoreOf(command: Command): Store {
  return openStoreIn(new DataDirectory(dataSettingsOf(command).storage.data_dir));
}

export function openStoreIn(directory: DataDirectory): Store {
  const store = openDatabaseOf(directory, ({ fromVersion, toVersion, backup }) => {
    process.stderr.write(
      `upgraded the database from ${fromVersion} to ${toVersion}; backup of the old one: ${backup}\n`,
    );
  });
  return noteOpened(store, directory);
}
