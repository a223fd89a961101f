import { parse } from "node:path";
import type { Account } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { Recording } from "../database/index.ts";
import { type ChangeGate, mayAcknowledge } from "../disk/index.ts";
import {
  ExportError,
  type ExportFormat,
  type ExportMaker,
  ExportTooLargeError,
  exportExtension,
  exportFileName,
} from "../exports/index.ts";
import type { Library } from "../library/index.ts";
import type { InternalCause } from "../recordings/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type RecordingText, translationLanguage } from "../transcripts/index.ts";
import { explanationOf } from "./fault-texts.ts";
import type { FileFault, FolderFile, FolderFiles } from "./folder-files.ts";
import type { Folder } from "./folders.ts";
import { HindranceError, workingIn } from "./hindrances.ts";
import { locate, moveTo } from "./locate-file.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { freeName, type NewFile, writeOnce } from "./write-once.ts";

export interface DeliverServices {
  readonly files: FolderFiles;
  readonly library: Pick<Library, "find" | "transcript" | "translation" | "reads">;
  readonly exports: Pick<ExportMaker, "make">;
  /** Results, and the move of a file out of the folder, acknowledge that its recording is stored. */
  readonly changes: ChangeGate;
  readonly limits: () => Settings["limits"];
  readonly log: Logger;
  readonly now: () => number;
}

/** A file that was taken, and the open directories that it belongs to. */
export interface Delivery {
  readonly folder: Folder;
  readonly account: Account;
  readonly file: FolderFile;
  readonly directory: OpenDirectory;
  /** Directory for results, which may be the folder itself. */
  readonly target: OpenDirectory;
  readonly signal: AbortSignal;
  /** Called when a file has reached its end. */
  readonly onEnd: (outcome: "done" | "failed") => void;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Number of attempts to write a result in one format before the file fails. */
const MAX_EXPORT_ATTEMPTS = 5;

/** Number of further attempts to transcribe a file; for faults of the machine they take four days. */
const MAX_POSTPONEMENTS = 8;

/** Causes of a failed recording that lie with the machine: the file is transcribed again later. */
const machineCauses: ReadonlySet<string> = new Set<InternalCause>([
  "ffmpeg_unusable",
  "ffmpeg_timed_out",
  "input_unreadable",
  "engine_stalled",
]);

/**
 * Continues the work on a file that was taken, as far as it goes now: the end of its recording, the results, and the
 * move to `done/` or `failed/`. Every step may be repeated: a result that is there with the same content is not written
 * again, and a file that is gone was moved.
 * @throws {HindranceError} when a directory or the server is in trouble; the file keeps its state
 * @throws the signal's reason after an abort
 */
export async function deliverFile(services: DeliverServices, delivery: Delivery): Promise<void> {
  const { file } = delivery;
  const { files } = services;
  switch (file.state) {
    case "transcribing":
      return await follow(services, delivery);
    case "postponed": {
      const isThere = await workingIn("folder", async () => (await delivery.directory.describe(file.name)) !== null);
      if (!isThere) files.forget(file);
      return;
    }
    case "delivering":
      return await deliverResults(services, delivery);
    case "moving":
      return await finishDelivery(services, delivery);
    case "failing":
      return await explainFault(services, delivery);
    case "done":
      return;
  }
}

/** Stores how the recording of a file has ended, and continues with what is to be done then. */
async function follow(services: DeliverServices, delivery: Delivery): Promise<void> {
  const { files, library, now } = services;
  const { file } = delivery;
  const recording = file.recordingId === null ? null : library.find(file.recordingId);
  if (recording === null) return await fail(services, delivery, "deleted");
  const { status, failureReason, failureCause } = recording;
  if (status === "queued" || status === "processing") return;
  if (status === "completed") {
    files.transcribed(file);
    return await deliverResults(services, { ...delivery, file: { ...file, state: "delivering", attempts: 0 } });
  }
  const isPostponed = file.attempts < MAX_POSTPONEMENTS;
  if (failureReason === "quota_exceeded" && isPostponed) files.postpone(file, (Math.floor(now() / DAY) + 1) * DAY);
  else if (machineCauses.has(failureCause ?? "") && isPostponed) {
    files.postpone(file, now() + Math.min(DAY, HOUR * 2 ** file.attempts));
  } else await fail(services, delivery, faultOf(recording));
}

async function fail(services: DeliverServices, delivery: Delivery, reason: FileFault): Promise<void> {
  const { file } = delivery;
  services.files.fail(file, reason);
  await explainFault(services, { ...delivery, file: { ...file, state: "failing", reason } });
}

function faultOf({ failureReason, failureCause }: Recording): FileFault {
  if (failureReason === "quota_exceeded") return "quota";
  if (failureReason === "no_speech" || failureReason === "too_short") return failureReason;
  return failureCause === "cancelled" ? "cancelled" : "not_processed";
}

async function deliverResults(services: DeliverServices, delivery: Delivery): Promise<void> {
  const { files, library } = services;
  const { folder, account, file, target } = delivery;
  const recording = file.recordingId === null ? null : library.find(file.recordingId);
  if (recording === null) return await fail(services, delivery, "deleted");
  const source = await locate(delivery);
  // After a crash, its results are recognized by this name, also if somebody removes the file.
  if (source !== null && source.name !== file.name) files.follow(file, source);
  const owner = source?.owner ?? (await workingIn("folder", () => delivery.directory.owner()));
  const name = parse(source?.name ?? file.name).name;
  // The workspace of the folder may have changed since the file was taken.
  const viewer = { kind: "application", account, workspaceId: null } as const;
  const texts: RecordingText[] = [library.transcript(viewer, recording)];
  // The recording of a file that was transcribed before may have no translation.
  if (folder.isTranslated && recording.isTranslated) texts.push(library.translation(viewer, recording));
  const results: NewFile[] = [];
  const write = () =>
    workingIn(folder.target === null ? "folder" : "target", async () => {
      await writeOnce(target, results);
      await target.sync();
    });
  const wanted = texts.flatMap((text) => folder.formats.map((format): Result => ({ text, format })));
  for (const result of wanted) {
    const content = await exported(services, delivery, result);
    if (content === null) {
      await requireStored(services, delivery);
      await write();
      return await fail(services, delivery, "not_exported");
    }
    results.push({ ...fileOf(result, name, file), content, owner });
  }
  await requireStored(services, delivery);
  await write();
  const reader = { actor: `folder:${folder.id}`, surface: "folder" } as const;
  for (const { format } of wanted) library.reads.exported(reader, recording, format);
  files.delivered(file);
  await finishDelivery(services, { ...delivery, file: { ...file, state: "moving" } });
}

/** A result of a file: its transcript or its translation, in one format. */
interface Result {
  readonly text: RecordingText;
  readonly format: ExportFormat;
}

/** Returns the names of a result. */
function fileOf({ text, format }: Result, name: string, { id }: FolderFile) {
  const translation = translationLanguage(text);
  const wanted = exportFileName(name, format, translation);
  if (translation === null) return { name: wanted, temporaryName: `.transcribe-${id}.${format}.part` };
  const ending = `.${translation}.${exportExtension(format)}`;
  return { name: wanted, ending, temporaryName: `.transcribe-${id}.${translation}.${format}.part` };
}

async function finishDelivery(services: DeliverServices, delivery: Delivery): Promise<void> {
  const { files, log } = services;
  const { folder, file } = delivery;
  await requireStored(services, delivery);
  await moveTo("done", delivery);
  files.finish(file);
  delivery.onEnd("done");
  log.info({ event: "folder.delivered", folderId: folder.id, recordingId: file.recordingId });
}

/** Returns a result; null if it can never be generated. @throws {HindranceError} when a later attempt may succeed */
async function exported(
  { exports, files }: DeliverServices,
  { account, file, signal }: Delivery,
  { text: transcript, format }: Result,
): Promise<Uint8Array | null> {
  try {
    const wanted = { owner: account.id, transcript, format, hasNames: true };
    using result = await exports.make(wanted, signal);
    return await result.content.bytes();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ExportTooLargeError) return null;
    if (!(error instanceof ExportError)) return await workingIn("server", () => Promise.reject(error));
    if (file.attempts >= MAX_EXPORT_ATTEMPTS) return null;
    files.countAttempt(file);
    throw new HindranceError("unexpected", { cause: error });
  }
}

async function explainFault(services: DeliverServices, delivery: Delivery): Promise<void> {
  const { files, limits, log } = services;
  const { folder, file, directory } = delivery;
  await requireStored(services, delivery);
  const source = await locate(delivery);
  if (source !== null) {
    await using failed = await workingIn("subfolder", () => directory.subdirectory("failed"));
    const content = Buffer.from(explanationOf({ ...file, name: source.name }, limits()));
    const name = `${await workingIn("folder", () => freeName(failed, source.name))}.txt`;
    await workingIn("folder", () =>
      writeOnce(failed, [{ name, content, owner: source.owner, temporaryName: `.transcribe-${file.id}.txt.part` }]),
    );
    await moveTo("failed", delivery);
  }
  files.finish(file);
  delivery.onEnd("failed");
  log.info({ event: "folder.failed", folderId: folder.id, recordingId: file.recordingId, reason: file.reason });
}

/**
 * Waits until the standby has what is stored of a file, so that the next server does not know less than the folder shows.
 * @throws {HindranceError} `standby` if it is away
 */
async function requireStored({ changes }: DeliverServices, { signal }: Delivery): Promise<void> {
  if (!(await mayAcknowledge(changes, signal))) throw new HindranceError("standby");
}
