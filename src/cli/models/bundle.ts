import { Command } from "commander";
import { builtInPath, findModelOrNull, type InstalledModel, writeBundle } from "../../models/index.ts";
import { CommandError } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions } from "../settings-options.ts";
import { type ModelsContext, modelsContext } from "./models-context.ts";
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
      const context = await modelsContext(command);
      const unique = [...new Set(ids)];
      for (const id of unique) requireCarriable(id, context);
      const models: InstalledModel[] = [];
      for (const id of unique) models.push(await here(id, context, options.json === true));
      using progress = new ProgressLine();
      try {
        await writeBundle(models, options.output, (done, total) => progress.show("bundle", done, total));
      } catch (error) {
        throw isSystemError(error) ? new CommandError(`can't write ${options.output}: ${error.message}`) : error;
      }
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
  const entry = findModelOrNull(catalogue, id);
  if (entry !== null && builtInPath(entry, files) !== null) {
    throw new CommandError(`${id} comes with the program; there is nothing to carry`);
  }
  if (entry === null && library.find(id) === null) {
    throw new CommandError(`there is no model ${id}; see them with: transcribe models list`);
  }
}

async function here(id: string, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const installed = context.library.find(id);
  const entry = findModelOrNull(context.catalogue, id);
  if (installed !== null) return installed;
  if (entry === null) throw new CommandError(`${id} is not here any more`);
  return await pull(entry, context, quiet);
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
