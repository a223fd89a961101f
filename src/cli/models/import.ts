import { Value } from "@sinclair/typebox/value";
import { Command } from "commander";
import { importModels, modelIdSchema, OpenedModel } from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions, dataSettingsWith } from "../settings-options.ts";
import { openModels } from "./models-context.ts";
import { ProgressLine } from "./progress-line.ts";
import { shown } from "./shown.ts";

/** transcribe models import PATH */
export function importCommand(): Command {
  return addSettingsOptions(new Command("import"), ["storage.data_dir"])
    .description("Take in a model that was carried here.")
    .argument("<path>", "a whisper model in ggml form (.bin), a faster-whisper directory, or a bundle")
    .option("--name <id>", "what to call a model that the catalogue does not know (default: by its file)")
    .option("--json", "print what was installed as JSON")
    .action(async (path: string, options: { name?: string; json?: boolean }, command: Command) => {
      const { name } = options;
      if (name !== undefined && !Value.Check(modelIdSchema, name)) {
        throw new CommandError("a --name has small letters, digits, dots, dashes and underscores", exitCodes.usage);
      }
      const { settings, opened } = dataSettingsWith(command, path, (givesUpRights) =>
        givesUpRights ? new OpenedModel(path) : null,
      );
      using carried = opened;
      const { library, catalogue } = await openModels(settings);
      using progress = new ProgressLine();
      const importFrom = (from: string) =>
        importModels(from, {
          ...{ library, catalogue, name },
          inspect: (file) => inspect(file, from, path),
          onProgress: (doing, done, total) => progress.show(doing, done, total),
        });
      // This process may have lost the right to open the model's path, so the open files are copied to the library.
      const installed =
        carried === null
          ? await importFrom(path)
          : await library.withFolder(async (folder) => importFrom(await carried.copyTo(folder)));
      progress[Symbol.dispose]();
      print(options.json === true, installed.map(shown), () =>
        installed
          .map(({ id, inCatalogue }) => `${id} is installed${inCatalogue ? "" : ", which the catalogue does not know"}`)
          .join("\n"),
      );
    });
}

/** Validates a model file. Error messages about a temporary copy show the path that the caller named. */
function inspect(file: string, copy: string, named: string): void {
  try {
    validateModelFile(file);
  } catch (error) {
    throw new Error(messageOf(error).replaceAll(copy, named), { cause: error });
  }
}
