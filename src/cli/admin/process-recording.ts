import type { Command } from "commander";
import type { Recording } from "../../database/index.ts";
import type { SpeechModel } from "../../models/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { type ModelsContext, modelsContext, requireInstalled } from "../models/index.ts";
import { date, type JsonOption, print } from "../output.ts";
import { languageCode, resourceId, someText } from "../parse-option.ts";
import { settingsCommand } from "../settings-options.ts";
import { operator } from "./audit.ts";
import { libraryOf, orRefused } from "./open-library.ts";

/** Returns the processing of a recording that is processed again, or why that failed. */
export function rerunJson(rerun: Recording) {
  return {
    status: rerun.status,
    step: rerun.step,
    percent: rerun.percent,
    model: rerun.speechModel,
    pinned_language: rerun.pinnedLanguage,
    failure_reason: rerun.failureReason,
    failure_cause: rerun.failureCause,
    created_at: date(rerun.createdAt),
  };
}

/** Returns the same in a few words. */
export function rerunText({ status, percent, failureReason, failureCause }: Recording): string {
  if (status === "failed") return `failed: ${failureCause ?? failureReason}; the transcript is as before`;
  return percent === null ? status : `${status}, ${percent} %`;
}

interface ProcessOptions extends JsonOption {
  readonly model?: string;
  readonly language?: string;
  readonly translate?: true;
}

/** transcribe recordings process ID */
export function processCommand(): Command {
  return settingsCommand(
    "process",
    "Process a completed recording again. The new transcript becomes a revision; the one before can be restored.",
  )
    .argument("<id>", "id of a recording", resourceId)
    .option("--model <id>", "speech model; by default the one in use for new recordings", someText)
    .option(
      "--language <code>",
      'language, or "detect" for language detection; by default as when the recording was sent',
      (text) => (text === "detect" ? text : languageCode(text)),
    )
    .option("--translate", "translate to English as well; by default as before, if the model can translate")
    .action(async (id: string, options: ProcessOptions, command: Command) => {
      const context = await modelsContext(command);
      const { settings, store } = context;
      const library = libraryOf(store, context.dataDirectory);
      const recording = await orRefused(id, () => library.require(operator(), id));
      const model = rerunModel(context, options.model);
      const pinnedLanguage = rerunLanguage(context, model, options.language, recording);
      const { translate } = options;
      if (translate === true) requireTranslator(context, model);
      const rerun = await orRefused(id, () =>
        library.processAgain(operator(), id, {
          ...{ speechModel: model.id, pinnedLanguage },
          ...(translate === true && { isTranslated: true }),
          recordingsPerAccount: settings.limits.recordings_per_account,
        }),
      );
      print(
        options,
        { id, ...rerunJson(rerun) },
        () =>
          `recording ${id} is queued again with ${model.id}; its transcript stays as it is until that has completed`,
      );
    });
}

/** Returns the model for a rerun. @throws {CommandError} when it is not installed, or no speech model */
function rerunModel(context: ModelsContext, id: string | undefined): SpeechModel {
  try {
    const model = id === undefined ? context.speech.requireCurrent() : requireInstalled(id, context);
    validateModelFile(model.path);
    return model;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`the model can't be used: ${messageOf(error)}`);
  }
}

/** @throws {CommandError} when a model cannot translate */
function requireTranslator({ speech }: ModelsContext, model: SpeechModel): void {
  const refusal = speech.translationRefusal(model.id);
  if (refusal !== null) throw new CommandError(refusal);
}

/** Returns the language for a rerun; null: it is detected. @throws {CommandError} when the model does not know it */
function rerunLanguage(
  { speech }: ModelsContext,
  model: SpeechModel,
  given: string | undefined,
  { pinnedLanguage }: Recording,
): string | null {
  const code = given?.trim().toLowerCase() ?? pinnedLanguage;
  if (code === null || code === "detect") return null;
  if (speech.languagesOf(model).some((language) => language.code === code)) return code;
  throw new CommandError(
    `"${code}" is not a language of ${model.id}; list its languages with: transcribe models list --json, or use --language detect`,
  );
}
