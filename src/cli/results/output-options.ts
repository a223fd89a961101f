import { type Command, Option } from "commander";
import { exportFormats } from "../../exports/index.ts";

/** Adds the options for destination and format of transcripts, which `planOutputs` takes. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "kind of file for the transcripts").choices(Object.keys(exportFormats)))
    .option("-o, --output <path>", "file or DIRECTORY/ for the transcripts; - is standard output")
    .option("--force", "overwrite files that are there");
}
