import type { Command } from "commander";
import { type InstalledModel, type ModelEntry, ModelError, pullModel } from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { type JsonOption, print } from "../output.ts";
import { settingsCommand } from "../settings-options.ts";
import { TransferLine } from "../status-line.ts";
import { airGap, type ModelsContext, modelJson, modelsContext, requireEntry } from "./context.ts";

/** transcribe models pull ID… */
export function pullCommand(): Command {
  const description = "Download models of the catalogue and check their digests; resumes an interrupted download.";
  return settingsCommand("pull", description, ["storage.data_dir", "models.mirror"])
    .argument("<id...>", "ids from: transcribe models list")
    .addHelpText("after", `\n${airGap}.`)
    .action(async (ids: string[], options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const entries = ids.map((id) => requireEntry(context.catalogue, id));
      const pulled: InstalledModel[] = [];
      for (const entry of entries) pulled.push(await pull(entry, context, options.json === true));
      print(options, pulled.map(modelJson), () => `next: transcribe models use ${pulled.at(-1)?.id}`);
    });
}

/** Pulls one model and shows the progress. @throws {ModelError} with advice for machines without a network */
export async function pull(entry: ModelEntry, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const { library, catalogue, settings } = context;
  using progress = new TransferLine();
  const onProgress = (doing: string, done: number, total: number | null) =>
    progress.show(`${entry.id}: ${doing}`, done, total);
  try {
    const { mirror } = settings.models;
    const inspect = (file: string) => void validateModelFile(file);
    const { model, fetched } = await pullModel(entry, { library, catalogue, inspect, mirror, onProgress });
    progress[Symbol.dispose]();
    if (!quiet) process.stdout.write(`${fetched ? "installed" : "already installed, and intact:"} ${entry.id}\n`);
    return model;
  } catch (error) {
    if (error instanceof ModelError && /can't be reached|answered/.test(error.message)) {
      throw new ModelError(`${entry.id}: ${error.message}. ${airGap}`);
    }
    throw error;
  }
}
