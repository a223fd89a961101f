import { Command } from "commander";
import {
  originText,
  readSettings,
  SettingsError,
  settingEntries,
  settingValue,
  tomlValue,
  withoutPassword,
} from "../../config/index.ts";
import { print, table } from "../output.ts";
import { serveFlags } from "../serve.ts";
import { addSettingsOptions, settingsSourcesOf } from "../settings-options.ts";

/** transcribe config show */
export function showCommand(): Command {
  return addSettingsOptions(new Command("show"), serveFlags)
    .description(
      "Show every setting: its value, and whether that comes from a file, the environment, a flag or the default.",
    )
    .option("--json", "print JSON")
    .action((options: { json?: boolean }, command: Command) => {
      const sources = settingsSourcesOf(command);
      const { settings, origins, faults } = readSettings(sources);
      if (settings === null) throw new SettingsError(faults);
      const file = sources.file ?? null;
      const rows = settingEntries.map((entry) => ({
        entry,
        value: shown(settingValue(settings, entry.path)),
        origin: origins.get(entry.path) ?? { type: "default" as const },
      }));
      const json = {
        file,
        settings: rows.map(({ entry, value, origin }) => ({
          setting: entry.path,
          value,
          origin,
          default: entry.defaultValue,
          reload: entry.reload,
        })),
      };
      print(options.json === true, json, () => {
        const lines = rows.map(({ entry, value, origin }) => [entry.path, tomlValue(entry, value), originText(origin)]);
        return `settings file: ${file ?? "none"}\n\n${table(["SETTING", "VALUE", "FROM"], lines)}`;
      });
    });
}

/** Removes passwords from a value, so that users can share the printed settings. */
function shown(value: unknown): unknown {
  return typeof value === "string" ? withoutPassword(value) : value;
}
