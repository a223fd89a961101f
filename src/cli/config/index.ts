import { Command } from "commander";
import { exampleFile, settingsPage } from "../../config/index.ts";
import { checkCommand } from "./check.ts";
import { showCommand } from "./show.ts";

/** transcribe config */
export function configCommand(): Command {
  return new Command("config")
    .description("Show, check and explain the settings.")
    .addCommand(showCommand())
    .addCommand(checkCommand())
    .addCommand(
      new Command("example")
        .description("Print a settings file with every setting, its meaning and its default.")
        .action(() => void process.stdout.write(exampleFile())),
    )
    .addCommand(
      new Command("docs")
        .description("Print the documentation of all settings, in Markdown.")
        .action(() => void process.stdout.write(settingsPage())),
    );
}
