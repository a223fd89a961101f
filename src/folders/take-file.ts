import { createHash, randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { type Account, getAccount } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { type Store, tables } from "../database/index.ts";
import type { DiskSpace } from "../disk/index.ts";
import { type CreatePlace, IntakeError, type RecordingIntake, requireActive, type Sender } from "../intake/index.ts";
import type { Library } from "../library/index.ts";
import type { DataDirectory } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { codeOf } from "../text/index.ts";
import { type Doubt, doubtAbout } from "./completeness.ts";
import type { FileFault, FolderFile, FolderFiles } from "./folder-files.ts";
import type { Folder } from "./folders.ts";
import { HindranceError, workingIn } from "./hindrances.ts";
import { outcomeOf } from "./intake-refusals.ts";
import { type FileFacts, isSameFile, type OpenDirectory } from "./open-directory.ts";
import { type OpenFile, PIECE_BYTES } from "./open-file.ts";

export interface TakeServices {
  readonly store: Store;
  readonly library: Pick<Library, "find">;
  readonly files: FolderFiles;
  /** The intake that all surfaces share: its limits count files, too. */
  readonly intake: Pick<RecordingIntake, "limits" | "examine" | "create">;
  readonly dataDirectory: Pick<DataDirectory, "incoming">;
  readonly diskSpace: Pick<DiskSpace, "capacityBytes" | "reserve">;
  readonly limits: () => Settings["limits"];
  /** Returns the speech model in use and its languages. */
  readonly speechModel: () => { readonly id: string; readonly languages: readonly { readonly code: string }[] };
  /** Returns why a speech model cannot translate; null if it can. */
  readonly translationRefusal: (model: string) => string | null;
  readonly log: Logger;
  readonly now: () => number;
}

/** One file of a folder, and when to stop. */
interface Taking {
  readonly folder: Folder;
  readonly account: Account;
  readonly directory: OpenDirectory;
  readonly facts: FileFacts;
  /** Whether it is taken even if it seems to be incomplete. */
  readonly isLast: boolean;
  /** Bytes that an earlier attempt found to be needed next to its copy; 0 if none did. */
  readonly neededBytes: number;
  readonly signal: AbortSignal;
  /** Called for every part that is read. */
  readonly onProgress: () => void;
}

/**
 * `changing`: somebody still writes the file; `denied`: the server may not read it; `taken`: it has a row, as a new or a
 * known file, or because it is refused. A doubt: it seems to be incomplete. Held milliseconds: it would be refused, but not
 * before this time has passed. Needed bytes: the server lacks the disk space to decode it.
 */
type TakeOutcome =
  | "taken"
  | "changing"
  | "denied"
  | { readonly doubt: Doubt }
  | { readonly heldMilliseconds: number }
  | { readonly neededBytes: number };

/** The copy of a file, and the place of its recording. */
interface Copy {
  readonly path: string;
  readonly sha256: string;
  readonly place: CreatePlace;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Takes a file from a folder: copies it and creates its recording. The file itself stays in the folder. Nothing is left
 * behind if it is not taken.
 * @throws {HindranceError} when a limit is reached, or the server or the folder is in trouble
 * @throws the signal's reason after an abort
 */
export async function takeFile(services: TakeServices, taking: Taking): Promise<TakeOutcome> {
  const { folder, facts, directory } = taking;
  const { limits } = services;
  // Links could lead out of the folder, or give access to a file that their creator may not read.
  if (facts.kind !== "file") return refuse(services, taking, facts.kind === "linked" ? "linked" : "not_a_file");
  if (facts.sizeBytes > limits().upload_bytes) return refuse(services, taking, "too_large");
  if (facts.sizeBytes > services.diskSpace.capacityBytes("intake")) {
    return refuse(services, taking, "too_large", "It is larger than the disk of the server.");
  }
  const opened = await openUnchanged(directory, facts);
  if (typeof opened === "string") return opened;
  await using source = opened;
  const read = (position: number, length: number) => workingIn("folder", () => source.read(position, length));
  const doubt = taking.isLast ? null : await doubtAbout(read, facts.sizeBytes);
  if (doubt !== null) return { doubt };
  const { language } = folder;
  if (language !== null && !services.speechModel().languages.some(({ code }) => code === language)) {
    throw new HindranceError("language");
  }
  if (folder.isTranslated && services.translationRefusal(services.speechModel().id) !== null) {
    throw new HindranceError("translation");
  }
  const admitted = services.intake.limits.admitFile(taking.account);
  if (typeof admitted === "string") throw new HindranceError(admitted);
  using place = admitted;
  const path = join(services.dataDirectory.incoming, `${randomUUID()}.part`);
  try {
    const sha256 = await copy(services, taking, source, path);
    if (sha256 === null) return "changing";
    return await enter(services, taking, { path, sha256, place });
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * Refuses a file that can't be transcribed, which moves it to `failed`. In the first hour of its folder it stays where it
 * is: the folder may have been added by mistake.
 */
function refuse(
  { files, now }: Pick<TakeServices, "files" | "now">,
  { folder, facts }: Pick<Taking, "folder" | "facts">,
  fault: FileFault,
  detail: string | null = null,
): TakeOutcome {
  const heldMilliseconds = folder.createdAt + HOUR - now();
  // After a folder was added by a clock that was far ahead, its first hour would last as long.
  if (heldMilliseconds > 0 && heldMilliseconds < DAY) return { heldMilliseconds };
  files.refuse(folder, facts, fault, detail);
  return "taken";
}

/** Opens a file, unless it has changed since it was seen. */
async function openUnchanged(directory: OpenDirectory, facts: FileFacts): Promise<OpenFile | "changing" | "denied"> {
  try {
    const { handle, facts: now } = await directory.openFile(facts.name);
    if (now.kind === "file" && isSameFile(now, facts)) return handle;
    await handle.close();
    return "changing";
  } catch (error) {
    const code = codeOf(error);
    if (code === "EACCES" || code === "EPERM") return "denied";
    // It is gone or a link now, or its writer has locked it.
    if (["ENOENT", "ELOOP", "ENXIO", "EBUSY", "EAGAIN", "ETXTBSY"].includes(code)) return "changing";
    return await workingIn("folder", () => Promise.reject(error));
  }
}

/** Copies a file. @returns the digest of its content; null if it changed while it was copied */
async function copy(
  { diskSpace }: TakeServices,
  { facts, neededBytes, signal, onProgress }: Taking,
  source: OpenFile,
  path: string,
): Promise<string | null> {
  // What decoding needs is reserved as well, so that a file which can't be decoded now is not copied again and again.
  using reserved = await workingIn("server", async () => diskSpace.reserve(facts.sizeBytes + neededBytes, "intake"));
  await using target = await workingIn("server", () => open(path, "wx", 0o600));
  const hash = createHash("sha256");
  for (let position = 0; position < facts.sizeBytes; ) {
    signal.throwIfAborted();
    const piece = await workingIn("folder", () =>
      source.read(position, Math.min(PIECE_BYTES, facts.sizeBytes - position)),
    );
    if (piece.length === 0) return null;
    await workingIn("server", async () => {
      await target.writeFile(piece);
      reserved.written(piece.length);
    });
    hash.update(piece);
    position += piece.length;
    onProgress();
  }
  await workingIn("server", () => target.sync());
  const after = await workingIn("folder", () => source.describe());
  return isSameFile(after, facts) && after.kind === "file" ? hash.digest("hex") : null;
}

/** Creates the recording of a copy, or finds that the content is known under this name. */
async function enter(services: TakeServices, taking: Taking, { path, sha256, place }: Copy): Promise<TakeOutcome> {
  const { store, library, files, intake, speechModel, log, now } = services;
  const { folder, account, facts, isLast } = taking;
  const content = { facts, sha256 };
  const known = await findOpen(files, taking, sha256);
  if (known !== undefined && known.state !== "postponed") {
    // The same content was written again, or only its time has changed.
    files.follow(known, facts);
    return "taken";
  }
  const done = files.findDone(folder.id, content);
  if (done !== null && library.find(done) !== null) {
    files.repeat(folder, content, done);
    return "taken";
  }
  const file = { path, sizeBytes: facts.sizeBytes, name: facts.name.toWellFormed() };
  const source = { type: "file", file } as const;
  const removed = new Error("the folder was removed");
  const requireAccess = () => {
    const current = getAccount(store, account.id);
    const isWatched = store.select().from(tables.folders).where(eq(tables.folders.id, folder.id)).get() !== undefined;
    if (current === null || !isWatched) throw removed;
    requireActive(current, now());
  };
  const sender: Sender = { kind: "application", account, workspaceId: folder.workspaceId, requireAccess };
  const hints = { prompt: null, minSpeakers: null, maxSpeakers: null };
  const { language: pinnedLanguage, isTranslated } = folder;
  const submission = { source, pinnedLanguage, hints, isTranslated, speechModel: speechModel().id };
  try {
    await intake.examine(source, sender);
    const { id } = await intake.create(sender, submission, {
      place,
      also: (writer, recording) => files.claim(writer, folder, content, recording.id),
    });
    log.info({ event: "folder.taken", folderId: folder.id, recordingId: id });
    return "taken";
  } catch (error) {
    if (error === removed) return "changing";
    if (!(error instanceof IntakeError)) return await workingIn("server", () => Promise.reject(error));
    const outcome = outcomeOf(error.refusal);
    if ("hindrance" in outcome) throw new HindranceError(outcome.hindrance, { cause: error });
    if ("neededBytes" in outcome) return outcome;
    const { fault, detail } = outcome;
    return fault === "unusable" && !isLast ? { doubt: "unreadable" } : refuse(services, taking, fault, detail);
  }
}

/**
 * Returns the file in progress that has this content under this name, or that had it under another name before somebody
 * renamed it.
 */
async function findOpen(
  files: FolderFiles,
  { folder, facts, directory }: Taking,
  sha256: string,
): Promise<FolderFile | undefined> {
  const same = files.open(folder.id).filter((file) => file.sha256 === sha256);
  const known = same.find(({ name }) => name === facts.name);
  if (known !== undefined) return known;
  for (const file of same.filter(({ inode }) => inode === facts.inode)) {
    const other = await workingIn("folder", () => directory.describe(file.name));
    // Some file systems have one inode for all files.
    if (other?.inode !== file.inode) return file;
  }
  return undefined;
}
