import type { Command } from "commander";
import { locate, readSettings, type Settings, SettingsError } from "../config/index.ts";
import { settingFaults } from "../server/index.ts";
import { settingsSourcesOf } from "./settings-options.ts";

/**
 * Reads the settings of a server, now and each time that it is to read them again. The file that it began with stays its
 * file: when that is gone, the reading fails, and doesn't go back to the defaults.
 * @returns a function that throws {SettingsError} with all that is wrong and where
 */
export function servingSettings(command: Command): () => Settings {
  const { file } = settingsSourcesOf(command);
  return () => {
    const now = settingsSourcesOf(command);
    const { settings, origins, faults } = readSettings({ ...now, file: file ?? now.file });
    if (settings === null) throw new SettingsError(faults);
    const meant = settingFaults(settings);
    if (meant.length > 0) throw new SettingsError(locate(meant, origins));
    return settings;
  };
}
