import { Value } from "@sinclair/typebox/value";
import { Command } from "commander";
import { requireAccount, Usage } from "../../accounts/index.ts";
import { Library, LibraryError, type Refusal, type RerunRefusal } from "../../library/index.ts";
import type { SpeechModel } from "../../models/index.ts";
import { type Recording, Recordings, type Status, statusSchema, type Transcript } from "../../recordings/index.ts";
import { validateModelFile } from "../../speech/index.ts";
import { type DataDirectory, type Store, values } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { nameOfActor } from "../../users/index.ts";
import { CommandError } from "../command-error.ts";
import { type ModelsContext, modelsContext } from "../models/context.ts";
import { requireInstalled } from "../models/use.ts";
import { date, facts, type JsonOption, optionalDate, print, readableTime, table } from "../output.ts";
import { positiveNumber } from "../parse-option.ts";
import { dataDirectoryOf, openStoreIn, settingsCommand } from "../settings-options.ts";
import { operator } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";

/** transcribe recordings list|show|process|hold|release|cancel|delete */
export function recordingsCommand(): Command {
  return new Command("recordings")
    .description("Manage the recordings of all accounts.")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(processCommand())
    .addCommand(
      changeCommand("hold", "Protect a recording from deletion.", (library, id) => setHold(library, id, true)),
    )
    .addCommand(
      changeCommand("release", "Allow the deletion of a held recording.", (library, id) => setHold(library, id, false)),
    )
    .addCommand(
      changeCommand(
        "cancel",
        "Cancel a queued or processing recording, which becomes failed, or the processing of one that is processed again.",
        cancel,
      ),
    )
    .addCommand(changeCommand("delete", "Delete a recording with its audio and its transcript.", remove));
}

function listCommand(): Command {
  return settingsCommand("list", "List recordings, newest first.")
    .option("--account <name>", "only recordings of this account")
    .option("--status <statuses>", `only these: ${values.statuses.join(", ")}; separated by commas`)
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 50)
    .action((options: JsonOption & { account?: string; status?: string; limit: number }, command: Command) => {
      const { store, library } = openLibrary(command);
      const filter = {
        accountId: options.account === undefined ? undefined : requireAccount(store, options.account).id,
        statuses: options.status === undefined ? undefined : statusesOf(options.status),
      };
      const recordings = library.list(operator(), filter, options.limit);
      print(options, recordings.map(toJson), () =>
        table(
          recordings,
          {
            ID: ({ id }) => id,
            STATUS: ({ heldAt, status }) => (heldAt === null ? status : `${status} (held)`),
            STEP: ({ step }) => step ?? "-",
            "%": ({ percent }) => String(percent ?? "-"),
            SECONDS: ({ durationSeconds }) => durationSeconds?.toFixed(1) ?? "-",
            CREATED: ({ createdAt }) => readableTime(createdAt),
            FAILURE: ({ failureCause, failureReason }) => failureCause ?? failureReason ?? "-",
          },
          "no recordings",
        ),
      );
    });
}

const alternatives = new Intl.ListFormat("en-GB", { type: "disjunction" });

function statusesOf(list: string): Status[] {
  return list.split(",").map((status) => {
    if (Value.Check(statusSchema, status)) return status;
    throw new CommandError(`"${status}" is not a status; use ${alternatives.format(values.statuses)}`);
  });
}

function showCommand(): Command {
  return settingsCommand("show", "Show a recording, with the internal cause of a failure.")
    .argument("<id>")
    .option("--revisions", "the corrections of its transcript by people, newest first")
    .action(async (id: string, options: JsonOption & { revisions?: true }, command: Command) => {
      const { store, library } = openLibrary(command);
      const recording = await orRefused(id, () => library.require(operator(), id));
      if (options.revisions === true) {
        showRevisions(options, store, await orRefused(id, () => library.transcript(operator(), id)));
        return;
      }
      const rerun = library.rerunOf(operator(), recording);
      const { models, machines } = library.partsOf(operator(), recording);
      const isAlone = models.every(({ model }) => model === recording.speechModel);
      const record = toJson(recording);
      const json = {
        ...record,
        ...(models.length === 0 ? {} : { models }),
        ...(machines.length === 0 ? {} : { machines }),
        ...(rerun === null ? {} : { processed_again: rerunJson(rerun) }),
      };
      const shown = {
        ...record,
        ...(isAlone ? {} : { parts_by_model: partsBy(models, ({ model }) => model) }),
        ...(machines.length === 0 ? {} : { parts_by_machine: partsBy(machines, ({ machine }) => machine) }),
        ...(rerun === null ? {} : { processed_again: rerunText(rerun) }),
      };
      print(options, json, () => facts(shown));
    });
}

/** Returns the processing of a recording that is processed again, or why that failed. */
function rerunJson(rerun: Recording) {
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

function rerunText({ status, percent, failureReason, failureCause }: Recording): string {
  if (status === "failed") return `failed: ${failureCause ?? failureReason}; the transcript is as before`;
  return percent === null ? status : `${status}, ${percent} %`;
}

function processCommand(): Command {
  return settingsCommand(
    "process",
    "Process a completed recording again. The new transcript becomes a revision; the one before can be restored.",
  )
    .argument("<id>")
    .option("--model <id>", "speech model; by default the one in use for new recordings")
    .option(
      "--language <code>",
      'language, or "detect" for language detection; by default as when the recording was sent',
    )
    .action(async (id: string, options: JsonOption & { model?: string; language?: string }, command: Command) => {
      const context = await modelsContext(command);
      const { settings, store } = context;
      const library = libraryOf(store, context.dataDirectory);
      const recording = await orRefused(id, () => library.require(operator(), id));
      const model = rerunModel(context, options.model);
      const pinnedLanguage = rerunLanguage(context, model, options.language, recording);
      const rerun = await orRefused(id, () =>
        library.processAgain(operator(), id, {
          ...{ speechModel: model.id, pinnedLanguage },
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

/** Shows up to 10,000 revisions, which is the number that is stored. */
function showRevisions(options: JsonOption, store: Store, transcript: Transcript): void {
  const revisions = transcript.revisions(null, 10_000);
  const json = revisions.map(({ number, author, at, action, segments }) => ({
    ...{ number, action, segments },
    author: nameOfActor(store, author),
    at: date(at),
  }));
  print(options, json, () =>
    table(
      revisions,
      {
        REVISION: ({ number }) => String(number),
        AT: ({ at }) => readableTime(at),
        AUTHOR: ({ author }) => nameOfActor(store, author),
        CORRECTION: ({ action }) => action,
        SEGMENTS: ({ segments }) => String(segments),
      },
      "nobody has corrected the transcript",
    ),
  );
}

function partsBy<T extends { readonly parts: number }>(counts: readonly T[], nameOf: (count: T) => string): string {
  return counts.map((count) => `${nameOf(count)} ${count.parts}`).join(", ");
}

/** Returns a command that changes one recording; `change` returns a message about the change. */
function changeCommand(
  name: string,
  description: string,
  change: (library: Library, id: string) => string | Promise<string>,
): Command {
  return settingsCommand(name, description)
    .argument("<id>")
    .action(async (id: string, options: JsonOption, command: Command) => {
      const { store, library } = openLibrary(command);
      const before = await orRefused(id, () => library.require(operator(), id));
      const done = await orRefused(id, () => change(library, id));
      if (name === "delete") await emptyLog(store);
      print(options, toJson(library.find(id) ?? before), () => done);
    });
}

function setHold(library: Library, id: string, isHeld: boolean): string {
  library.hold(operator(), id, isHeld);
  return `recording ${id} is ${isHeld ? "held" : "released"}`;
}

async function cancel(library: Library, id: string): Promise<string> {
  await library.cancel(operator(), id);
  return `recording ${id} is cancelled; a server that processes it stops within two seconds`;
}

async function remove(library: Library, id: string): Promise<string> {
  await library.remove(operator(), id);
  return `recording ${id} is deleted`;
}

function openLibrary(command: Command): { readonly store: Store; readonly library: Library } {
  const dataDirectory = dataDirectoryOf(command);
  const store = openStoreIn(dataDirectory);
  return { store, library: libraryOf(store, dataDirectory) };
}

function libraryOf(store: Store, dataDirectory: DataDirectory): Library {
  const recordings = new Recordings(store, Date.now);
  return new Library({ store, recordings, dataDirectory, usage: new Usage(store), now: Date.now });
}

/** @throws {CommandError} if a recording is not read or changed */
async function orRefused<T>(id: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    throw new CommandError(refusalText(id, error.refusal));
  }
}

function refusalText(id: string, refusal: Refusal): string {
  switch (refusal.kind) {
    case "not_found":
    case "other_workspace":
      return `there is no recording ${id}; list them with: transcribe recordings list`;
    case "not_allowed":
      return `recording ${id} can't be changed: only an operator may do this`;
    case "held":
      return `recording ${id} can't be deleted: it is held; release it first`;
    case "still_open":
      return `recording ${id} can't be deleted: it is ${refusal.status}; cancel it first`;
    case "has_ended":
      return `recording ${id} can't be cancelled: it is ${refusal.status}`;
    case "not_corrected":
      return `the transcript of recording ${id} can't be corrected: ${refusal.reason}`;
    case "not_completed":
      return `recording ${id} has no transcript: it is ${refusal.status}`;
    case "not_processed":
      return `recording ${id} can't be processed again: ${rerunTexts[refusal.reason]}`;
  }
}

const rerunTexts: Readonly<Record<RerunRefusal, string>> = {
  no_audio: "its audio is no longer stored (storage.audio_days)",
  already_open: "it is being processed again; cancel that first: transcribe recordings cancel ID",
  no_place: "its account has as many queued and processing recordings as it may have; wait until one has finished",
};

function toJson(recording: Recording) {
  return {
    id: recording.id,
    account_id: recording.accountId,
    workspace_id: recording.workspaceId,
    status: recording.status,
    step: recording.step,
    percent: recording.percent,
    language: recording.language,
    model: recording.speechModel,
    model_sha256: recording.speechModelSha256,
    duration_seconds: recording.durationSeconds,
    size_bytes: recording.sizeBytes,
    failure_reason: recording.failureReason,
    failure_cause: recording.failureCause,
    revision: recording.revision,
    held_since: optionalDate(recording.heldAt),
    created_at: date(recording.createdAt),
    updated_at: date(recording.updatedAt),
  };
}
