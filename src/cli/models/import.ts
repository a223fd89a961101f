import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import { importModels, modelIdSchema, OpenedModel } from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { dataSettingsWith, settingsCommand } from "../settings-options.ts";
import { TransferLine } from "../status-line.ts";
import { modelJson, openModels } from "./context.ts";

/** transcribe models import PATH */
export function importCommand(): Command {
  return settingsCommand("import", "Install a model or a bundle from a file.")
    .argument("<path>", "a whisper model in ggml format (.bin), a faster-whisper directory, or a bundle")
    .option("--name <id>", "id for a model that is not in the catalogue (default: by its file)")
    .action(async (path: string, options: JsonOption & { name?: string }, command: Command) => {
      const { name } = options;
      if (name !== undefined && !Value.Check(modelIdSchema, name)) {
        throw new CommandError(
          "--name takes lower-case letters, digits, dots, hyphens and underscores",
          exitCodes.usage,
        );
      }
      const { settings, opened } = dataSettingsWith(command, path, (givesUpRights) =>
        givesUpRights ? new OpenedModel(path) : null,
      );
      using carried = opened;
      const { library, catalogue } = await openModels(settings);
      using progress = new TransferLine();
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
      print(options, installed.map(modelJson), () =>
        installed
          .map(({ id, inCatalogue }) => `installed ${id}${inCatalogue ? "" : ", which is not in the catalogue"}`)
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
