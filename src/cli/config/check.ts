import { Command } from "commander";
import {
  faultText,
  locate,
  readSettings,
  type SettingFault,
  type SettingsSources,
  settingWarnings,
} from "../../config/index.ts";
import { settingFaults } from "../../server/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { print } from "../output.ts";
import { serveFlags } from "../serve.ts";
import { addSettingsOptions, settingsSourcesOf } from "../settings-options.ts";

/** transcribe config check [FILE] */
export function checkCommand(): Command {
  return addSettingsOptions(new Command("check"), serveFlags)
    .description("Check the settings as a server would read them: every fault with its place, and what has no effect.")
    .argument("[file]", "settings file (default: the one that a server would read)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExit codes: 0 no faults, though perhaps warnings; 2 faults.")
    .action((file: string | undefined, options: { json?: boolean }, command: Command) => {
      const sources = settingsSourcesOf(command);
      const checked = { ...sources, file: file ?? sources.file };
      const { faults, warnings } = check(checked);
      const json = { file: checked.file ?? null, faults: faults.map(toJson), warnings: warnings.map(toJson) };
      print(options.json === true, json, () => {
        const lines = [
          ...faults.map((fault) => `fault: ${faultText(fault)}`),
          ...warnings.map((w) => `warning: ${faultText(w)}`),
        ];
        const summary = faults.length > 0 ? [] : [`${checked.file ?? "the settings"}: no faults`];
        return [...lines, ...summary].join("\n");
      });
      if (faults.length > 0) throw new CommandError("", exitCodes.usage);
    });
}

function check(sources: SettingsSources): Record<"faults" | "warnings", SettingFault[]> {
  const { settings, origins, faults } = readSettings(sources);
  if (settings === null) return { faults: [...faults], warnings: [] };
  return { faults: locate(settingFaults(settings), origins), warnings: locate(settingWarnings(settings), origins) };
}

function toJson(fault: SettingFault) {
  return { setting: fault.setting, origin: fault.origin, message: fault.message };
}
