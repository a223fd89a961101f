import type { Command } from "commander";
import { locate, readSettings, type Settings, SettingsError } from "../config/index.ts";
import { settingFaults } from "../server/index.ts";
import { settingsSourcesOf } from "./settings-options.ts";

/**
 * Returns a function that reads the settings of a server, at the start and for each reload. The settings file is chosen
 * once. If that file is missing later, the function fails and does not fall back to the defaults.
 * @returns a function that throws a {SettingsError} with all faults and their places
 */
export function servingSettings(command: Command): () => Settings {
  const { file } = settingsSourcesOf(command);
  return () => {
    const current = settingsSourcesOf(command);
    const { settings, origins, faults } = readSettings({ ...current, file: file ?? current.file });
    if (settings === null) throw new SettingsError(faults);
    const invalid = settingFaults(settings);
    if (invalid.length > 0) throw new SettingsError(locate(invalid, origins));
    return settings;
  };
}
