import { Command } from "commander";
import {
  exampleFile,
  faultText,
  locate,
  originText,
  readSettings,
  type SettingFault,
  SettingsError,
  type SettingsSources,
  settingEntries,
  settingsPage,
  settingValue,
  settingWarnings,
  tomlValue,
  withoutPassword,
} from "../config/index.ts";
import { UsageError } from "./command-error.ts";
import { type JsonOption, print, table } from "./output.ts";
import { someText } from "./parse-option.ts";
import { serveFlags, settingsCommand, settingsSourcesOf } from "./settings-options.ts";

/** transcribe config show|check|example|docs */
export function configCommand(): Command {
  return new Command("config")
    .description("Show, check and explain the settings.")
    .addCommand(showCommand())
    .addCommand(checkCommand())
    .addCommand(
      new Command("example")
        .description("Print a settings file with all settings, their descriptions and their defaults.")
        .action(() => void process.stdout.write(exampleFile())),
    )
    .addCommand(
      new Command("docs")
        .description("Print the documentation of all settings in Markdown.")
        .action(() => void process.stdout.write(settingsPage())),
    );
}

function showCommand(): Command {
  const description =
    "Show every setting with its value and its origin: a file, the environment, a flag or the default.";
  return settingsCommand("show", description, serveFlags).action((options: JsonOption, command: Command) => {
    const sources = settingsSourcesOf(command);
    const { settings, origins, faults } = readSettings(sources);
    if (settings === null) throw new SettingsError(faults);
    const file = sources.file ?? null;
    const rows = settingEntries.map((entry) => {
      const value = settingValue(settings, entry.path);
      const origin = origins.get(entry.path) ?? { type: "default" as const };
      // Without passwords, so that users can share the printed settings.
      return { entry, value: typeof value === "string" ? withoutPassword(value) : value, origin };
    });
    const json = rows.map(({ entry, value, origin }) => ({
      setting: entry.path,
      value,
      origin,
      default: entry.defaultValue,
      reload: entry.reload,
    }));
    print(options, { file, settings: json }, () => {
      const columns = {
        SETTING: ({ entry }: (typeof rows)[number]) => entry.path,
        VALUE: ({ entry, value }: (typeof rows)[number]) => tomlValue(entry, value),
        ORIGIN: ({ origin }: (typeof rows)[number]) => originText(origin),
      };
      return `settings file: ${file ?? "none"}\n\n${table(rows, columns, "")}`;
    });
  });
}

function checkCommand(): Command {
  const description =
    "Check the settings like a server that starts: faults with their places, and settings without effect.";
  return settingsCommand("check", description, serveFlags)
    .argument("[file]", "settings file (default: the one that a server would read)", someText)
    .addHelpText("after", "\nExit codes: 0 no faults, perhaps warnings; 2 faults.")
    .action(async (file: string | undefined, options: JsonOption & { config?: string }, command: Command) => {
      if (file !== undefined && options.config !== undefined) {
        throw new UsageError("name the settings file once: without --config, or without the argument");
      }
      const sources = settingsSourcesOf(command);
      const checked = { ...sources, file: file ?? sources.file };
      const { faults, warnings } = await check(checked);
      const json = { file: checked.file ?? null, faults: faults.map(toJson), warnings: warnings.map(toJson) };
      print(options, json, () =>
        [
          ...faults.map((fault) => `fault: ${faultText(fault)}`),
          ...warnings.map((warning) => `warning: ${faultText(warning)}`),
          ...(faults.length > 0 ? [] : [`${checked.file ?? "the settings"}: no faults`]),
        ].join("\n"),
      );
      if (faults.length > 0) throw new UsageError("");
    });
}

async function check(sources: SettingsSources): Promise<Record<"faults" | "warnings", SettingFault[]>> {
  // Only this command needs the server, whose modules take longer to load than the others run.
  const { settingFaults } = await import("../server/index.ts");
  const { settings, origins, faults } = readSettings(sources);
  if (settings === null) return { faults: [...faults], warnings: [] };
  return { faults: locate(settingFaults(settings), origins), warnings: locate(settingWarnings(settings), origins) };
}

function toJson({ setting, origin, message }: SettingFault) {
  return { setting, origin, message };
}
