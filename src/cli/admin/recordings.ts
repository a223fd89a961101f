import { Value } from "@sinclair/typebox/value";
import { Command } from "commander";
import { audit, requireAccount, Usage } from "../../accounts/index.ts";
import { type Recording, Recordings, type Status, statusSchema } from "../../recordings/index.ts";
import type { DataDirectory, Store } from "../../storage/index.ts";
import { CommandError } from "../command-error.ts";
import { date, facts, type JsonOption, optionalDate, print, readableTime, table } from "../output.ts";
import { positiveNumber } from "../parse-option.ts";
import { dataDirectoryOf, openStoreIn, openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";

/** transcribe recordings list|show|hold|release|cancel|delete */
export function recordingsCommand(): Command {
  return new Command("recordings")
    .description("Manage the recordings of all accounts.")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(changeCommand("hold", "Protect a recording from deletion.", (target) => setHold(target, true)))
    .addCommand(changeCommand("release", "Allow the deletion of a held recording.", (target) => setHold(target, false)))
    .addCommand(changeCommand("cancel", "Cancel a queued or processing recording; it becomes failed.", cancel))
    .addCommand(changeCommand("delete", "Delete a recording with its audio and its transcript.", remove));
}

function listCommand(): Command {
  return settingsCommand("list", "List recordings, newest first.")
    .option("--account <name>", "only recordings of this account")
    .option("--status <statuses>", "only these: queued, processing, completed, failed; separated by commas")
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 50)
    .action((options: JsonOption & { account?: string; status?: string; limit: number }, command: Command) => {
      const store = openStoreOf(command);
      const filter = {
        accountId: options.account === undefined ? undefined : requireAccount(store, options.account).id,
        statuses: options.status === undefined ? undefined : statusesOf(options.status),
      };
      const recordings = new Recordings(store, Date.now).list(filter, options.limit);
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

function statusesOf(list: string): Status[] {
  return list.split(",").map((status) => {
    if (Value.Check(statusSchema, status)) return status;
    throw new CommandError(`"${status}" is not a status; use queued, processing, completed or failed`);
  });
}

function showCommand(): Command {
  return settingsCommand("show", "Show a recording, with the internal cause of a failure.")
    .argument("<id>")
    .action((id: string, options: JsonOption, command: Command) => {
      const recordings = new Recordings(openStoreOf(command), Date.now);
      const recording = requireRecording(recordings, id);
      const models = recordings.rows.modelsOf(id);
      const machines = recordings.rows.machinesOf(id);
      const isAlone = models.every(({ model }) => model === recording.speechModel);
      const record = toJson(recording);
      const json = {
        ...record,
        ...(models.length === 0 ? {} : { models }),
        ...(machines.length === 0 ? {} : { machines }),
      };
      const shown = {
        ...record,
        ...(isAlone ? {} : { parts_by_model: partsBy(models, ({ model }) => model) }),
        ...(machines.length === 0 ? {} : { parts_by_machine: partsBy(machines, ({ machine }) => machine) }),
      };
      print(options, json, () => facts(shown));
    });
}

function partsBy<T extends { readonly parts: number }>(counts: readonly T[], nameOf: (count: T) => string): string {
  return counts.map((count) => `${nameOf(count)} ${count.parts}`).join(", ");
}

/** A recording, and what its change needs. */
interface Target {
  readonly directory: DataDirectory;
  readonly store: Store;
  readonly recordings: Recordings;
  readonly recording: Recording;
}

/** Returns a command that changes one recording; `change` returns a message about the change, or throws. */
function changeCommand(
  name: string,
  description: string,
  change: (target: Target) => string | Promise<string>,
): Command {
  return settingsCommand(name, description)
    .argument("<id>")
    .action(async (id: string, options: JsonOption, command: Command) => {
      const directory = dataDirectoryOf(command);
      const store = openStoreIn(directory);
      const recordings = new Recordings(store, Date.now);
      const recording = requireRecording(recordings, id);
      const done = await change({ directory, store, recordings, recording });
      print(options, toJson(recordings.get(id) ?? recording), () => done);
    });
}

function setHold({ recordings, recording: { id } }: Target, isHeld: boolean): string {
  const action = isHeld ? "recordings.hold" : "recordings.release";
  recordings.setHold(id, isHeld, (writer) => audit(writer, auditor(), action, id, {}));
  return `recording ${id} is ${isHeld ? "held" : "released"}`;
}

function cancel({ store, recordings, recording: { id, status } }: Target): string {
  const cancelled = recordings.fail(id, { reason: "internal", cause: "cancelled" }, (writer) => {
    new Usage(store).refundAudio(id);
    audit(writer, auditor(), "recordings.cancel", id, {});
  });
  if (!cancelled) throw new CommandError(`recording ${id} can't be cancelled: it is ${status}`);
  // Removes rows in batches, because a running server waits for the database during each write.
  while (recordings.rows.removeWork(id, 100));
  return `recording ${id} is cancelled; a server that processes it stops within two seconds`;
}

async function remove({ directory, recordings, recording: { id, status, heldAt } }: Target): Promise<string> {
  const deleted = recordings.delete(id, (writer) => audit(writer, auditor(), "recordings.delete", id, {}));
  if (!deleted) {
    const next = heldAt === null ? `it is ${status}; cancel it first` : "it is held; release it first";
    throw new CommandError(`recording ${id} can't be deleted: ${next}`);
  }
  await directory.filesOf(id).removeAll();
  await recordings.rows.removeDeleted(id);
  return `recording ${id} is deleted`;
}

function requireRecording(recordings: Recordings, id: string): Recording {
  const recording = recordings.get(id);
  if (recording !== null) return recording;
  throw new CommandError(`there is no recording ${id}; list them with: transcribe recordings list`);
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
    size_bytes: recording.sizeBytes,
    failure_reason: recording.failureReason,
    failure_cause: recording.failureCause,
    held_since: optionalDate(recording.heldAt),
    created_at: date(recording.createdAt),
    updated_at: date(recording.updatedAt),
  };
}
