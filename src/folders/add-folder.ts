import { isAbsolute, join, resolve } from "node:path";
import { eq } from "drizzle-orm";
import { type Account, type Auditor, audit, type Workspace } from "../accounts/index.ts";
import { type Store, tables, transact } from "../database/index.ts";
import type { ExportFormat } from "../exports/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { ClosedPlaces, isWithin, type OwnPlace } from "./closed-places.ts";
import { mayBeInvalid } from "./file-names.ts";
import { FileProcesses } from "./file-processes.ts";
import { type Folder, type FolderAccess, FolderError, toFolder } from "./folders.ts";
import { HindranceError } from "./hindrances.ts";
import { MARKER, readMarker, writeMarker } from "./marker.ts";
import { OpenDirectory } from "./open-directory.ts";

/** Properties of a folder that is added. A known folder keeps those that are undefined. */
interface NewFolder {
  readonly account: Account;
  /** None by default. */
  readonly workspace?: Workspace | null | undefined;
  readonly path: string;
  /** Directory for results; null, the default: next to the recordings. */
  readonly target?: string | null | undefined;
  /** Plain text by default. */
  readonly formats?: readonly ExportFormat[] | undefined;
  /** ISO 639; null, the default, for language detection. */
  readonly language?: string | null | undefined;
  /** Whether the recordings are translated to English as well; false by default. */
  readonly isTranslated?: boolean | undefined;
  /** Number of files in a new folder that are no recordings, as a person confirmed it. */
  readonly confirmedFiles?: number | undefined;
}

/** A folder that was added or changed. */
export interface AddedFolder {
  readonly folder: Folder;
  /** The folder as it was before; null if it is new. */
  readonly before: Folder | null;
  /** Whether only their owners may move files in it. */
  readonly isSticky: boolean;
}

const DEFAULT_FORMATS: readonly ExportFormat[] = ["txt"];

/**
 * Adds a folder, or changes the given properties of one of the same account. Its marker is written
 * last, so that a running server sees the folder only when it is complete.
 * @param own places of the program, which no folder may contain or be in
 * @param processes access the folder, and are stopped; its own by default
 * @throws {FolderError}
 */
export async function addFolder(
  store: Store,
  own: readonly OwnPlace[],
  { account, workspace, path, target, formats, language, isTranslated, confirmedFiles }: NewFolder,
  by: Auditor,
  processes: FolderAccess = new FileProcesses(),
): Promise<AddedFolder> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => processes.stop());
  const closed = new ClosedPlaces(own);
  await requireUsable(path, "the folder", closed, processes);
  if (target != null) await requireUsable(target, "the directory for results", closed, processes);
  const directory = stack.use(await opened(path, processes));
  if (target != null) await (await opened(target, processes))[Symbol.asyncDispose]();
  const marker = await tried(path, () => readMarker(directory));
  const isSticky = await tried(path, () => directory.isSticky());
  const isNew = store.select().from(tables.folders).where(eq(tables.folders.path, path)).get() === undefined;
  const confirmed = isNew ? await requireConfirmed(path, directory, confirmedFiles) : {};
  // A column that is undefined keeps its value, or gets its default.
  const columns = {
    workspaceId: workspace === null ? null : workspace?.id,
    target,
    formats: formats && JSON.stringify(formats),
    language,
    isTranslated,
  };
  const { row, before } = transact(store, (writer) => {
    const all = writer.select().from(tables.folders).all();
    const known = all.find((folder) => folder.path === path);
    requireSeparate(all, path, account, known?.accountId);
    if (marker !== null && marker !== known?.id) {
      throw new FolderError(
        `${path} has the marker of another folder or server, or of an account that was deleted; if none watches it any more, delete the file ${join(path, MARKER)} and repeat this command`,
      );
    }
    const written =
      known === undefined
        ? writer
            .insert(tables.folders)
            .values({
              ...columns,
              formats: columns.formats ?? JSON.stringify(DEFAULT_FORMATS),
              id: Bun.randomUUIDv7(),
              accountId: account.id,
              path,
              createdAt: by.now,
            })
            .returning()
            .get()
        : writer
            .update(tables.folders)
            // SQLite knows no change of nothing.
            .set({ path, ...columns })
            .where(eq(tables.folders.id, known.id))
            .returning()
            .get();
    if (written === undefined) throw new Error("a folder was not stored");
    audit(writer, by, known === undefined ? "folders.add" : "folders.change", written.id, {
      ...{ path, target: written.target, formats: toFolder(written).formats, language: written.language },
      ...{ translated: written.isTranslated, account: account.name, ...confirmed },
    });
    return { row: written, before: known === undefined ? null : toFolder(known) };
  });
  try {
    if (marker === null) await tried(path, () => writeMarker(directory, row.id));
  } catch (error) {
    if (before === null) store.delete(tables.folders).where(eq(tables.folders.id, row.id)).run();
    throw error;
  }
  return { folder: toFolder(row), before, isSticky };
}

async function requireUsable(path: string, what: string, closed: ClosedPlaces, processes: FolderAccess): Promise<void> {
  if (!isAbsolute(path)) throw new FolderError(`${path} is not an absolute path; begin it with /`);
  const check = async () => {
    // A closed directory is not accessed, and no message advises to create one there.
    requireOpen(closed.reasonAgainst(resolve(path)));
    const files = processes.at(path);
    const real = await files.call("realPath", path);
    requireOpen(closed.reasonAgainst(real));
    if (real !== path) throw new FolderError(`${path} leads to ${real}; name that path, which has no links`);
    if ((await files.call("describe", path)).kind !== "directory") throw new FolderError(`${path} is not a directory`);
    requireOpen(await closed.reasonAgainstDirectory(path, files));
  };
  await tried(path, check, (error) => `${what} ${path} can't be used: ${reasonOf(error)}`);
}

function requireOpen(reason: string | null): void {
  if (reason !== null) throw new FolderError(reason);
}

/** Number of names in a message about files that are no recordings. */
const SHOWN_NAMES = 3;

/**
 * Requires that a person has confirmed the number of files in a new folder that are no recordings.
 * @returns the number for the audit log, if there are any
 * @throws {FolderError} with the number
 */
async function requireConfirmed(path: string, directory: OpenDirectory, confirmed = 0): Promise<{ files?: number }> {
  const { names, unknown } = await tried(path, () => otherFiles(directory));
  const number = names.length + unknown;
  if (confirmed === number) return number === 0 ? {} : { files: number };
  if (number === 0) {
    throw new FolderError(`${path} holds no files that are no recordings; repeat this command without --files`);
  }
  const files = number === 1 ? "1 file that is no recording" : `${number} files that are no recordings`;
  const shown = names.slice(0, SHOWN_NAMES).map((name) => JSON.stringify(name));
  const more = number > shown.length ? ", …" : "";
  throw new FolderError(
    `${path} holds ${files}${confirmed === 0 ? "" : `, not ${confirmed}`} (${shown.join(", ")}${more}), which would be moved to ${join(path, "failed")}; choose another directory, move what is no recording elsewhere, or confirm the number: --files ${number}`,
  );
}

/** Returns the files of a folder that are no recordings. Entries beyond the maximum are unknown. */
async function otherFiles(directory: OpenDirectory): Promise<{ names: readonly string[]; unknown: number }> {
  const { entries, excess } = await directory.entries();
  const names = entries.flatMap(({ name, isDirectory }) => (isDirectory || mayBeInvalid(name) ? [] : [name])).sort();
  return { names: await directory.withoutRecordings(names), unknown: excess };
}

/** Returns an error of the file system in plain words. */
function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return "there is no such directory; create it, or mount it, and repeat this command";
    case "ENOTDIR":
      return "a part of the path is a file";
    case "EACCES":
    case "EPERM":
      return "this user may not access it; repeat this command as the server's user or as root";
    default:
      return messageOf(error);
  }
}

function requireSeparate(
  all: readonly (typeof tables.folders.$inferSelect)[],
  path: string,
  account: Account,
  knownAccountId: string | undefined,
): void {
  if (knownAccountId !== undefined && knownAccountId !== account.id) {
    throw new FolderError(`${path} is watched for another account; remove it first: transcribe folders remove ${path}`);
  }
  const other = all.find((each) => each.path !== path && (isWithin(each.path, path) || isWithin(path, each.path)));
  if (other !== undefined) {
    throw new FolderError(`${path} and the watched folder ${other.path} contain one another; choose separate folders`);
  }
}

/** Opens a directory and tests whether files can be created and removed in it. */
async function opened(path: string, processes: FolderAccess): Promise<OpenDirectory> {
  const directory = await tried(path, async () => OpenDirectory.open(path, processes.at(path)));
  try {
    await tried(path, () => directory.testWriting());
    return directory;
  } catch (error) {
    await directory[Symbol.asyncDispose]();
    throw error;
  }
}

/** Runs work on a path. @throws {FolderError} in words for any error, by default for one of the file system */
async function tried<T>(path: string, work: () => Promise<T>, inWords = withoutRight(path)): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FolderError) throw error;
    const isSilent = error instanceof HindranceError && error.hindrance === "silent";
    if (!isSilent) throw new FolderError(inWords(error));
    throw new FolderError(
      `the file system of ${path} does not answer; check the connection to the file server, and repeat this command`,
    );
  }
}

function withoutRight(path: string) {
  return (error: unknown) => {
    // The rest of the message names the call and an internal path.
    const [reason = ""] = messageOf(error).split(", ");
    return `the server's user can't read and write in ${path} (${reason}); give it the right to create, rename and remove files there`;
  };
}
