import { Value } from "@sinclair/typebox/value";
import { Command } from "commander";
import { type Auditor, audit, requireAccount, Usage } from "../../accounts/index.ts";
import { type Recording, Recordings, type Status, statusSchema } from "../../recordings/index.ts";
import type { Store } from "../../storage/index.ts";
import { CommandError } from "../command-error.ts";
import { date, optionalDate, print, table } from "../output.ts";
import { addSettingsOptions, dataDirectoryOf, openStoreIn, openStoreOf } from "../settings-options.ts";
import { howMany } from "../whole-number.ts";
import { auditor } from "./auditor.ts";

/** transcribe recordings list|show|hold|release|cancel|delete */
export function recordingsCommand(): Command {
  return new Command("recordings")
    .description("The recordings of all accounts, as the operator sees them.")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(change("hold", "Keep a recording from being deleted.", hold))
    .addCommand(change("release", "Let a held recording be deleted again.", release))
    .addCommand(change("cancel", "End a recording that waits or runs, as failed.", cancel))
    .addCommand(change("delete", "Delete a recording with its audio and its text.", remove));
}

interface ListOptions {
  readonly account?: string;
  readonly status?: string;
  readonly limit: number;
  readonly json?: boolean;
}

function listCommand(): Command {
  return addSettingsOptions(new Command("list"), ["storage.data_dir"])
    .description("List recordings, newest first.")
    .option("--account <name>", "only this account's")
    .option("--status <statuses>", "only these: queued, processing, completed, failed; by comma")
    .option("--limit <number>", "so many", howMany, 50)
    .option("--json", "print them as JSON")
    .action((options: ListOptions, command: Command) => {
      const store = openStoreOf(command);
      const filter = {
        accountId: options.account === undefined ? undefined : requireAccount(store, options.account).id,
        statuses: options.status === undefined ? undefined : statusesOf(options.status),
      };
      const list = new Recordings(store, Date.now).list(filter, options.limit);
      print(options.json === true, list.map(toJson), () =>
        table(
          ["ID", "STATUS", "STEP", "%", "SECONDS", "CREATED", "FAILURE"],
          list.map((recording) => [
            recording.id,
            recording.heldAt === null ? recording.status : `${recording.status} (held)`,
            recording.step ?? "-",
            String(recording.percent ?? "-"),
            recording.durationSeconds === null ? "-" : recording.durationSeconds.toFixed(1),
            date(recording.createdAt),
            recording.failureCause ?? recording.failureReason ?? "-",
          ]),
        ),
      );
    });
}

function statusesOf(list: string): Status[] {
  return list.split(",").map((status) => {
    if (Value.Check(statusSchema, status)) return status;
    throw new CommandError(`"${status}" is no status; there are queued, processing, completed and failed`);
  });
}

function showCommand(): Command {
  return addSettingsOptions(new Command("show"), ["storage.data_dir"])
    .description("Show a recording, with the true cause of its failure.")
    .argument("<id>")
    .option("--json", "print it as JSON")
    .action((id: string, options: { json?: boolean }, command: Command) => {
      const recording = requireRecording(new Recordings(openStoreOf(command), Date.now), id);
      const shown = toJson(recording);
      print(options.json === true, shown, () =>
        Object.entries(shown)
          .map(([name, value]) => `${name.padEnd(18)}${value ?? "-"}`)
          .join("\n"),
      );
    });
}

interface Change {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly recording: Recording;
  readonly by: Auditor;
  readonly removeFiles: () => Promise<void>;
}

/** Returns a command that changes one recording; `act` returns a message about the change, or throws. */
function change(name: string, description: string, act: (change: Change) => string | Promise<string>): Command {
  return addSettingsOptions(new Command(name), ["storage.data_dir"])
    .description(description)
    .argument("<id>")
    .option("--json", "print the recording as JSON")
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      const directory = dataDirectoryOf(command);
      const store = openStoreIn(directory);
      const recordings = new Recordings(store, Date.now);
      const recording = requireRecording(recordings, id);
      const removeFiles = () => directory.filesOf(id).removeAll();
      const done = await act({ store, recordings, recording, by: auditor(), removeFiles });
      print(options.json === true, toJson(recordings.get(id) ?? recording), () => done);
    });
}

function hold({ recordings, recording: { id }, by }: Change): string {
  recordings.setHold(id, true, (writer) => audit(writer, by, "recordings.hold", id, {}));
  return `recording ${id} is held`;
}

function release({ recordings, recording: { id }, by }: Change): string {
  recordings.setHold(id, false, (writer) => audit(writer, by, "recordings.release", id, {}));
  return `recording ${id} is released`;
}

function cancel({ store, recordings, recording: { id, status }, by }: Change): string {
  const cancelled = recordings.fail(id, { reason: "internal", cause: "cancelled" }, (writer) => {
    new Usage(store).refundAudio(id);
    audit(writer, by, "recordings.cancel", id, {});
  });
  if (!cancelled) throw new CommandError(`recording ${id} has ended: it is ${status}`);
  // Removes rows in batches, because a running server waits for the database during each write.
  while (recordings.rows.removeWork(id, 100));
  return `recording ${id} is cancelled; a server that is at it stops within a second or two`;
}

async function remove({ recordings, recording: { id, status, heldAt }, by, removeFiles }: Change): Promise<string> {
  const deleted = recordings.delete(id, (writer) => audit(writer, by, "recordings.delete", id, {}));
  if (!deleted) {
    const next = heldAt === null ? `it is ${status}; cancel it first` : "it is held; release it first";
    throw new CommandError(`recording ${id} can't be deleted: ${next}`);
  }
  await removeFiles();
  await recordings.rows.removeDeleted(id);
  return `recording ${id} is deleted`;
}

function requireRecording(recordings: Recordings, id: string): Recording {
  const recording = recordings.get(id);
  if (recording === null)
    throw new CommandError(`there is no recording ${id}; list them with: transcribe recordings list`);
  return recording;
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
