import { Command } from "commander";
import { type InstalledModel, type ModelEntry, ModelError, pullModel } from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { print } from "../output.ts";
import { addSettingsOptions } from "../settings-options.ts";
import { airGap, type ModelsContext, modelsContext, requireEntry } from "./models-context.ts";
import { ProgressLine } from "./progress-line.ts";
import { shown } from "./shown.ts";

/** transcribe models pull ID… */
export function pullCommand(): Command {
  return addSettingsOptions(new Command("pull"), ["storage.data_dir", "models.mirror"])
    .description("Download a model of the catalogue; goes on where an earlier try ended, and checks its digest.")
    .argument("<id...>", "ids of: transcribe models list")
    .option("--json", "print what was installed as JSON")
    .addHelpText("after", `\n${airGap}.`)
    .action(async (ids: string[], options: { json?: boolean }, command: Command) => {
      const context = await modelsContext(command);
      const entries = ids.map((id) => requireEntry(context.catalogue, id));
      const pulled: InstalledModel[] = [];
      for (const entry of entries) pulled.push(await pull(entry, context, options.json === true));
      print(options.json === true, pulled.map(shown), () => `use it with: transcribe models use ${pulled.at(-1)?.id}`);
    });
}

/** Pulls one model and shows the progress. @throws {ModelError} with advice for machines without a network */
export async function pull(entry: ModelEntry, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const { library, catalogue, settings } = context;
  using progress = new ProgressLine();
  const onProgress = (doing: string, done: number, total: number | null) =>
    progress.show(`${entry.id}: ${doing}`, done, total);
  try {
    const { mirror } = settings.models;
    const inspect = (file: string) => void validateModelFile(file);
    const { model, fetched } = await pullModel(entry, { library, catalogue, inspect, mirror, onProgress });
    progress[Symbol.dispose]();
    if (!quiet) process.stdout.write(`${entry.id} is ${fetched ? "installed" : "here already, and whole"}\n`);
    return model;
  } catch (error) {
    if (error instanceof ModelError && /can't be reached|answered/.test(error.message)) {
      throw new ModelError(`${entry.id}: ${error.message}. ${airGap}`);
    }
    throw error;
  }
}
