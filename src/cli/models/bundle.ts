import type { Command } from "commander";
import { builtInPath, findModel, type InstalledModel, ModelError, writeBundle } from "../../models/index.ts";
import { NewFile } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { dataSettingsWith, settingsCommand } from "../settings-options.ts";
import { TransferLine } from "../status-line.ts";
import { type ModelsContext, modelJson, openModels } from "./context.ts";
import { pull } from "./pull.ts";

/** transcribe models bundle ID… -o FILE */
export function bundleCommand(): Command {
  const description =
    "Write models to one file for a machine without a network. Models that are not installed are pulled.";
  return settingsCommand("bundle", description, ["storage.data_dir", "models.mirror"])
    .argument("<id...>", "ids from: transcribe models list")
    .requiredOption("-o, --output <file>", "the file to write")
    .action(async (ids: string[], options: JsonOption & { output: string }, command: Command) => {
      const openOutput = (givesUpRights: boolean) => {
        try {
          return new NewFile(options.output, { givesUpRights, mode: 0o644 });
        } catch (error) {
          throw outputError(options.output, error);
        }
      };
      const { settings, opened } = dataSettingsWith(command, options.output, openOutput);
      using output = opened;
      const context = await openModels(settings);
      const uniqueIds = [...new Set(ids)];
      for (const id of uniqueIds) requireBundleable(id, context);
      const models: InstalledModel[] = [];
      for (const id of uniqueIds) models.push(await installed(id, context, options.json === true));
      try {
        using progress = new TransferLine();
        await writeBundle(models, output, (done, total) => progress.show("bundle", done, total));
        await output.publish();
      } catch (error) {
        throw outputError(options.output, error);
      }
      print(options, models.map(modelJson), () => {
        const names = models.map(({ id }) => id).join(", ");
        return `wrote ${names} to ${options.output}\non the other machine: transcribe models import FILE`;
      });
    });
}

function requireBundleable(id: string, { catalogue, files, library }: ModelsContext): void {
  const entry = findModel(catalogue, id);
  if (entry !== null && builtInPath(entry, files) !== null) {
    throw new CommandError(`${id} is part of the program and needs no bundle`);
  }
  if (entry === null && library.find(id) === null) {
    throw new CommandError(`there is no model ${id}; list them with: transcribe models list`);
  }
}

/** Returns an installed model, and pulls it if it is missing. */
async function installed(id: string, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const model = context.library.find(id);
  if (model !== null) return model;
  const entry = findModel(context.catalogue, id);
  if (entry === null) throw new CommandError(`${id} was removed meanwhile`);
  return await pull(entry, context, quiet);
}

/** Converts a file system error of the output to an error without a stack; returns errors about a model unchanged. */
function outputError(path: string, error: unknown): Error {
  return error instanceof ModelError ? error : new CommandError(`can't write ${path}: ${messageOf(error)}`);
}
