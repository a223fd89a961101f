import { Value } from "@sinclair/typebox/value";
import { type Command, InvalidArgumentError } from "commander";
import { NewFile } from "../../disk/index.ts";
import {
  builtInPath,
  findModel,
  type InstalledModel,
  importModels,
  type ModelEntry,
  ModelError,
  modelIdSchema,
  OpenedModel,
  pullModel,
  writeBundle,
} from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { each, someText } from "../parse-option.ts";
import { dataSettingsWith, settingsCommand } from "../settings-options.ts";
import { StatusLine } from "../status-line.ts";
import { airGap, type ModelsContext, modelJson, modelsContext, openModels, requireEntry } from "./context.ts";

/** transcribe models pull ID… */
export function pullCommand(): Command {
  const description = "Download models of the catalogue and check their digests; resumes an interrupted download.";
  return settingsCommand("pull", description, ["storage.data_dir", "models.mirror"])
    .argument("<id...>", "ids from: transcribe models list", each(someText))
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
async function pull(entry: ModelEntry, context: ModelsContext, quiet: boolean): Promise<InstalledModel> {
  const { library, catalogue, settings } = context;
  using progress = new StatusLine();
  const onProgress = (doing: string, done: number, total: number | null) =>
    progress.showTransfer(`${entry.id}: ${doing}`, done, total);
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

/** transcribe models bundle ID… -o FILE */
export function bundleCommand(): Command {
  const description =
    "Write models to one file for a machine without a network. Models that are not installed are pulled.";
  return settingsCommand("bundle", description, ["storage.data_dir", "models.mirror"])
    .argument("<id...>", "ids from: transcribe models list", each(someText))
    .requiredOption("-o, --output <file>", "the file to write", someText)
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
        using progress = new StatusLine();
        await writeBundle(models, output, (done, total) => progress.showTransfer("bundle", done, total));
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

/** transcribe models import PATH */
export function importCommand(): Command {
  return settingsCommand("import", "Install a model or a bundle from a file.")
    .argument(
      "<path>",
      "a Whisper or Parakeet model in ggml format (.bin), a faster-whisper directory, or a bundle",
      someText,
    )
    .option("--name <id>", "id for a model that is not in the catalogue (default: by its file)", modelId)
    .action(async (path: string, options: JsonOption & { name?: string }, command: Command) => {
      const { name } = options;
      const { settings, opened } = dataSettingsWith(command, path, (givesUpRights) =>
        givesUpRights ? new OpenedModel(path) : null,
      );
      using carried = opened;
      const { library, catalogue } = await openModels(settings);
      using progress = new StatusLine();
      const importFrom = (from: string) =>
        importModels(from, {
          ...{ library, catalogue, name },
          inspect: (file) => inspect(file, from, path),
          onProgress: (doing, done, total) => progress.showTransfer(doing, done, total),
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
          .concat(`next: transcribe models use ${installed.at(-1)?.id}`)
          .join("\n"),
      );
    });
}

function modelId(text: string): string {
  if (Value.Check(modelIdSchema, text)) return text;
  throw new InvalidArgumentError("It takes lower-case letters, digits, dots, hyphens and underscores.");
}

/** Validates a model file. Error messages about a temporary copy show the path that the caller named. */
function inspect(file: string, copy: string, named: string): void {
  try {
    validateModelFile(file);
  } catch (error) {
    throw new Error(messageOf(error).replaceAll(copy, named), { cause: error });
  }
}
