import { Command } from "commander";
import { checkName, requireAccount } from "../../accounts/index.ts";
import { type Recording, type Store, values } from "../../database/index.ts";
import type { Library } from "../../library/index.ts";
import type { Status } from "../../recordings/index.ts";
import type { Transcript } from "../../transcripts/index.ts";
import { nameOfActor } from "../../users/index.ts";
import { date, facts, type JsonOption, optionalDate, print, printTable, readableTime } from "../output.ts";
import { checkedBy, listOf, positiveNumber, resourceId } from "../parse-option.ts";
import { dataDirectoryOf, openStoreIn, settingsCommand } from "../settings-options.ts";
import { operator } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";
import { libraryOf, orRefused } from "./open-library.ts";
import { processCommand, rerunJson, rerunText } from "./process-recording.ts";

/** transcribe recordings list|show|process|hold|release|cancel|delete */
export function recordingsCommand(): Command {
  return new Command("recordings")
    .description("Manage the recordings of all accounts.")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(processCommand())
    .addCommand(
      changeCommand("hold", "Protect a recording from deletion.", "held", (library, id) =>
        library.hold(operator(), id, true),
      ),
    )
    .addCommand(
      changeCommand("release", "Allow the deletion of a held recording.", "released", (library, id) =>
        library.hold(operator(), id, false),
      ),
    )
    .addCommand(
      changeCommand(
        "cancel",
        "Cancel a queued or processing recording, which becomes failed, or the processing of one that is processed again.",
        "cancelled; a server that processes it stops within two seconds",
        (library, id) => library.cancel(operator(), id),
      ),
    )
    .addCommand(
      changeCommand("delete", "Delete a recording with its audio and its transcript.", "deleted", (library, id) =>
        library.remove(operator(), id),
      ),
    );
}

function listCommand(): Command {
  return settingsCommand("list", "List recordings, newest first.")
    .option("--account <name>", "only recordings of this account", checkedBy(checkName))
    .option(
      "--status <statuses>",
      `only these: ${values.statuses.join(", ")}; separated by commas`,
      listOf(values.statuses),
    )
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 50)
    .action((options: JsonOption & { account?: string; status?: Status[]; limit: number }, command: Command) => {
      const { store, library } = openLibrary(command);
      const filter = {
        accountId: options.account === undefined ? undefined : requireAccount(store, options.account).id,
        statuses: options.status,
      };
      printTable(options, library.list(operator(), filter, options.limit), toJson, "no recordings", {
        ID: ({ id }) => id,
        STATUS: ({ heldAt, status }) => (heldAt === null ? status : `${status} (held)`),
        STEP: ({ step }) => step ?? "-",
        "%": ({ percent }) => String(percent ?? "-"),
        SECONDS: ({ durationSeconds }) => durationSeconds?.toFixed(1) ?? "-",
        CREATED: ({ createdAt }) => readableTime(createdAt),
        FAILURE: ({ failureCause, failureReason }) => failureCause ?? failureReason ?? "-",
      });
    });
}

function showCommand(): Command {
  return settingsCommand("show", "Show a recording, with the internal cause of a failure.")
    .argument("<id>", "the recording's id", resourceId)
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

/** Shows up to 10,000 revisions, which is the number that is stored. */
function showRevisions(options: JsonOption, store: Store, transcript: Transcript): void {
  const revisions = transcript.revisions(null, 10_000);
  const toJson = ({ number, author, at, action, segments }: (typeof revisions)[number]) => ({
    ...{ number, action, segments },
    author: nameOfActor(store, author),
    at: date(at),
  });
  printTable(options, revisions, toJson, "nobody has corrected the transcript", {
    REVISION: ({ number }) => String(number),
    AT: ({ at }) => readableTime(at),
    AUTHOR: ({ author }) => nameOfActor(store, author),
    CORRECTION: ({ action }) => action,
    SEGMENTS: ({ segments }) => String(segments),
  });
}

function partsBy<T extends { readonly parts: number }>(counts: readonly T[], nameOf: (count: T) => string): string {
  return counts.map((count) => `${nameOf(count)} ${count.parts}`).join(", ");
}

/** Returns a command that changes one recording. @param done what the recording is then */
function changeCommand(
  name: string,
  description: string,
  done: string,
  change: (library: Library, id: string) => unknown,
): Command {
  return settingsCommand(name, description)
    .argument("<id>", "the recording's id", resourceId)
    .action(async (id: string, options: JsonOption, command: Command) => {
      const { store, library } = openLibrary(command);
      const before = await orRefused(id, () => library.require(operator(), id));
      await orRefused(id, () => change(library, id));
      if (name === "delete") await emptyLog(store);
      print(options, toJson(library.find(id) ?? before), () => `recording ${id} is ${done}`);
    });
}

function openLibrary(command: Command): { readonly store: Store; readonly library: Library } {
  const dataDirectory = dataDirectoryOf(command);
  const store = openStoreIn(dataDirectory);
  return { store, library: libraryOf(store, dataDirectory) };
}

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
    audio_track: recording.audioTrack,
    audio_tracks: recording.audioTracks,
    size_bytes: recording.sizeBytes,
    failure_reason: recording.failureReason,
    failure_cause: recording.failureCause,
    revision: recording.revision,
    held_since: optionalDate(recording.heldAt),
    created_at: date(recording.createdAt),
    updated_at: date(recording.updatedAt),
  };
}
