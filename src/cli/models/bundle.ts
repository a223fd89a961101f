import { Command } from "commander";
import { builtInPath, findModel, type InstalledModel, ModelError, writeBundle } from "../../models/index.ts";
import { NewFile } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions, dataSettingsWith } from "../settings-options.ts";
import { type ModelsContext, openModels } from "./models-context.ts";
import { ProgressLine } from "./progress-line.ts";
import { pull } from "./pull.ts";
import { shown } from "./shown.ts";

/** transcribe models bundle ID… -o FILE */
export function bundleCommand(): Command {
  return addSettingsOptions(new Command("bundle"), ["storage.data_dir", "models.mirror"])
    .description(
      "Put models into one file, to be carried to a machine without a network; pulls those that are not here.",
    )
    .argument("<id...>", "ids of: transcribe models list")
    .requiredOption("-o, --output <file>", "the file to write")
    .option("--json", "print what is in it as JSON")
    .action(async (ids: string[], options: { output: string; json?: boolean }, command: Command) => {
      const openOutput = (givesUpRights: boolean) => {
        try {
          return new NewFile(options.output, { givesUpRights, mode: 0o644 });
        } catch (error) {
          return refuse(options.output, error);
        }
      };
      const { settings, opened } = dataSettingsWith(command, options.output, openOutput);
      using output = opened;
      const context = await openModels(settings);
      const unique = [...new Set(ids)];
      for (const id of unique) requireCarriable(id, context);
      const models: InstalledModel[] = [];
      for (const id of unique) models.push(await here(id, context, options.json === true));
      using progress = new ProgressLine();
      await writeBundle(models, output, (done, total) => progress.show("bundle", done, total))
        .then(() => output.publish())
        .catch((error: unknown) => refuse(options.output, error));
      progress[Symbol.dispose]();
      print(options.json === true, models.map(shown), () =>
        [
          `${options.output} holds ${models.map(({ id }) => id).join(", ")}`,
          "there: transcribe models import FILE",
        ].join("\n"),
      );
    });
}

function requireCarriable(id: string, { catalogue, files, library }: ModelsContext): void {
  const entry = findModel(catalogue, id);
  if (entry !== null && builtInPath(entry, files) !== null) {
    throw new CommandError(`${id} comes with the program; there is nothing to carry`);
  }
  if (entry === null && library.find(id) === null) {
    throw new CommandError(`there is no model ${id}; see them with: transcribe models list`);
  }
}

async function here(id: string, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const installed = context.library.find(id);
  const entry = findModel(context.catalogue, id);
  if (installed !== null) return installed;
  if (entry === null) throw new CommandError(`${id} is not here any more`);
  return await pull(entry, context, quiet);
}

/** Converts a file system error of the output to an error without a stack; rethrows errors about a model unchanged. */
function refuse(path: string, error: unknown): never {
  if (error instanceof ModelError) throw error;
  throw new CommandError(`can't write ${path}: ${messageOf(error)}`);
}
