import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { eq, inArray } from "drizzle-orm";
import { type Auditor, audit } from "../accounts/index.ts";
import { type Store, tables, transact, values } from "../database/index.ts";
import { type ExportFormat, exportFormatSchema } from "../exports/index.ts";
import { codeOf, ExpectedError } from "../text/index.ts";
import type { FileSystem } from "./file-calls.ts";
import { FileProcesses } from "./file-processes.ts";
import { MARKER, removeMarker } from "./marker.ts";
import { OpenDirectory } from "./open-directory.ts";
import type { IncompleteFile } from "./seen-files.ts";

/** A folder whose recordings are transcribed. */
export type Folder = Omit<typeof tables.folders.$inferSelect, "formats" | "incomplete"> & {
  readonly formats: readonly ExportFormat[];
  /** The waiting files that seem to be incomplete. */
  readonly incomplete: readonly IncompleteFile[];
};

/** A folder can't be added or removed; the message gives the reason and what to do. */
export class FolderError extends ExpectedError {
  override readonly name = "FolderError";
}

/** The processes that access folders for a command. */
export interface FolderAccess {
  at(path: string): FileSystem;
  stop(): void;
}

const storedFormatsSchema = Type.Array(Type.String());

const incompleteFilesSchema = Type.Array(
  Type.Object({ name: Type.String(), doubt: Type.Union(values.doubts.map((doubt) => Type.Literal(doubt))) }),
);

export function listFolders(store: Store): Folder[] {
  return store.select().from(tables.folders).orderBy(tables.folders.id).all().map(toFolder);
}

/** Returns a row as a folder. */
export function toFolder(row: typeof tables.folders.$inferSelect): Folder {
  const stored: unknown = JSON.parse(row.formats);
  if (!Value.Check(storedFormatsSchema, stored)) throw new Error("a folder's formats in the database can't be read");
  // A database of another version may name formats that this one does not have.
  const incomplete: unknown = JSON.parse(row.incomplete);
  return {
    ...row,
    formats: stored.filter((format) => Value.Check(exportFormatSchema, format)),
    incomplete: Value.Check(incompleteFilesSchema, incomplete) ? incomplete : [],
  };
}

/** A file that was taken from a folder and is not finished. */
export type OpenFile = Pick<
  typeof tables.folderFiles.$inferSelect,
  "folderId" | "name" | "state" | "recordingId" | "retryAt" | "createdAt"
>;

/** Returns the files that were taken from folders and are not finished, oldest first. */
export function listOpenFiles(store: Store): OpenFile[] {
  const { folderFiles } = tables;
  const { folderId, name, state, recordingId, retryAt, createdAt } = folderFiles;
  return store
    .select({ folderId, name, state, recordingId, retryAt, createdAt })
    .from(folderFiles)
    .where(inArray(state, [...values.openFileStates]))
    .orderBy(folderFiles.id)
    .all();
}

/**
 * Removes a folder. Its files stay where they are, and its recordings are completed, without results in the folder.
 * @param processes access the folder, and are stopped; its own by default
 * @returns the path of its marker if that could not be removed, else null
 * @throws {FolderError} when no folder has this path
 */
export async function removeFolder(
  store: Store,
  path: string,
  by: Auditor,
  processes: FolderAccess = new FileProcesses(),
): Promise<string | null> {
  const { folders } = tables;
  const row = transact(store, (writer) => {
    const removed = writer.delete(folders).where(eq(folders.path, path)).returning().get();
    if (removed !== undefined) audit(writer, by, "folders.remove", removed.id, { path });
    return removed;
  });
  if (row === undefined) {
    throw new FolderError(`${path} is not watched; list the folders with: transcribe folders list`);
  }
  try {
    await using directory = await OpenDirectory.open(path, processes.at(path));
    await removeMarker(directory, row.id);
    return null;
  } catch (error) {
    // The folder may be gone for good.
    return codeOf(error) === "ENOENT" ? null : join(path, MARKER);
  } finally {
    processes.stop();
  }
}
