import type { Command } from "commander";
import { audit } from "../../accounts/index.ts";
import { chooseCpuLibraryFor, NoCpuLibraryError } from "../../devices/index.ts";
import { findModel, type SpeechModel } from "../../models/index.ts";
import { readModelLanguages, validateModelFile } from "../../speech/index.ts";
import { messageOf } from "../../text/index.ts";
import { auditor } from "../admin/audit.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { someText } from "../parse-option.ts";
import { settingsCommand } from "../settings-options.ts";
import { type ModelsContext, modelJson, modelsContext } from "./context.ts";

/** transcribe models use ID */
export function useCommand(): Command {
  return settingsCommand(
    "use",
    "Choose the model for new recordings, without a restart; existing ones keep their model.",
  )
    .argument("<id>", "id from: transcribe models list", someText)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const { speech, store, recordings, setting, library } = context;
      if (setting !== "") {
        throw new CommandError(
          `the setting engine.whisper_model is ${setting} and overrides this choice; remove the setting and restart the server first`,
        );
      }
      const before = speech.current().id;
      using _lock = await library.lock(id);
      const model = requireInstalled(id, context);
      const languages = await requireWorking(model, context, before);
      store.transaction((transaction) => {
        speech.choose(id, Date.now(), transaction);
        audit(transaction, auditor(), "models.use", id, { before });
      });
      const open = recordings.open.models().filter((other) => other !== id);
      const result = { id, before, languages: languages.length, open_recordings_finish_with: open };
      print(options, result, () =>
        [
          `${id} is in use for new recordings (${languages.length === 1 ? "only English" : `${languages.length} languages`})`,
          ...(open.length > 0 ? [`queued and processing recordings keep ${open.join(", ")}`] : []),
        ].join("\n"),
      );
    });
}

/** Returns an installed speech model. @throws {CommandError} when there is none of this id */
export function requireInstalled(id: string, { speech, catalogue }: ModelsContext): SpeechModel {
  const entry = findModel(catalogue, id);
  if (entry !== null && entry.kind !== "speech") {
    throw new CommandError(`${id} is not a speech model; it is always in use`);
  }
  const model = id.startsWith("/") ? null : speech.find(id);
  if (model !== null) return model;
  if (entry !== null) throw new CommandError(`${id} is not installed; install it with: transcribe models pull ${id}`);
  throw new CommandError(`there is no model ${id}; list them with: transcribe models list`);
}

/** Runs a self-test of the model before it is used, in separate processes, because native code may crash. */
async function requireWorking(model: SpeechModel, { settings, files, dataDirectory }: ModelsContext, before: string) {
  const { cpu_variant: cpuVariant } = settings.engine;
  const choice = { nativeDirectory: files.nativeDirectory, verdictsPath: dataDirectory.verdicts, cpuVariant };
  try {
    validateModelFile(model.path);
    const languages = readModelLanguages(model.path);
    await chooseCpuLibraryFor(choice, [model.path]);
    return languages;
  } catch (error) {
    throw new CommandError(`${model.id} can't be used on this machine; ${before} stays in use: ${reasonOf(error)}`);
  }
}

/** Returns the reason of a failure. A faulty model fails with each CPU library for the same reason, reported once. */
function reasonOf(error: unknown): string {
  if (error instanceof NoCpuLibraryError) return [...new Set(error.leftOut.map(({ reason }) => reason))].join("; ");
  return messageOf(error);
}

/** transcribe models remove ID */
export function removeCommand(): Command {
  return settingsCommand("remove", "Remove an installed model that is not in use.")
    .argument("<id>", "id from: transcribe models list", someText)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const { library, store } = context;
      using _lock = await library.lock(id);
      const model = library.find(id);
      if (model === null) throw new CommandError(notInstalled(id, context));
      refuseNeeded(id, context);
      await library.remove(id);
      audit(store, auditor(), "models.remove", id, { sha256: model.sha256 });
      print(options, modelJson(model), () => `removed ${id}`);
    });
}

function notInstalled(id: string, { catalogue }: ModelsContext): string {
  const known = findModel(catalogue, id);
  if (known?.sources.some(({ type }) => type === "repository" || type === "ctranslate2-wheels")) {
    return `${id} is part of the program and can't be removed`;
  }
  return `${id} is not installed; list the models with: transcribe models list`;
}

function refuseNeeded(id: string, { speech, recordings }: ModelsContext): void {
  if (speech.current().id === id) {
    throw new CommandError(`${id} is in use; choose another first: transcribe models use ID`);
  }
  if (speech.isRouted(id)) {
    throw new CommandError(`the setting engine.recognizers names ${id}; remove it there and restart the server first`);
  }
  if (recordings.open.models().includes(id)) {
    throw new CommandError(
      `queued or processing recordings need ${id}; wait for them: transcribe recordings list --status queued,processing`,
    );
  }
}
