import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { messageOf } from "../../text/index.ts";
import { newBackupPath } from "../backups.ts";
import { BackupError, copyDatabase } from "../copy-database.ts";
import type { DataPaths } from "../data-paths.ts";
import { type DatabaseFacts, databaseFacts } from "../database-facts.ts";
import { isDiskFull } from "../disk-full.ts";
import type { NewFile } from "../new-file.ts";
import { databaseName, type Manifest, manifestName, uploadName } from "./manifest.ts";
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from "./tar-header.ts";

/** The content and size of a backup. */
export interface WrittenBackup {
  readonly database: DatabaseFacts;
  /** Recordings as they were sent. */
  readonly uploads: { readonly files: number; readonly bytes: number };
  /** Size of the backup file. */
  readonly sizeBytes: number;
}

interface Upload {
  readonly id: string;
  readonly isOpen: boolean;
}

const pieceBytes = 1 << 20;
/** Maximum number of attempts to copy the database without a recording that finishes and is removed meanwhile. */
const mostTries = 5;

/**
 * Writes the database and its recordings into one file, while a server may process them. The archive has the upload of
 * every recording that is queued or processing in the database copy. Of finished recordings, it has the uploads that
 * are still stored. The database copy is made in `backups/` of the data directory. It takes as much space as the
 * database until the backup is written.
 * @param target published by the caller after this returns
 * @throws {BackupError} when the disk is full or not writable, or the source is not a database
 */
export function writeBackup(paths: DataPaths, target: NewFile): WrittenBackup {
  return withSnapshot(paths, target, (snapshot) => {
    let held: ReadonlyMap<string, number> = new Map();
    try {
      for (let tries = 1; ; tries++) {
        rmSync(snapshot, { force: true });
        // A recording that finishes meanwhile may be removed at once, but an open file stays readable.
        held = openAll(paths, uploadsIn(paths.databasePath), held);
        copyDatabase(paths.databasePath, snapshot);
        held = openAll(paths, uploadsIn(snapshot), held);
        const stillOpen = new Set(uploadsIn(paths.databasePath).flatMap(({ id, isOpen }) => (isOpen ? id : [])));
        const ended = uploadsIn(snapshot).some(({ id, isOpen }) => isOpen && !held.has(id) && !stillOpen.has(id));
        if (!ended || tries === mostTries) break;
      }
      return writeArchive(paths, snapshot, target, held);
    } finally {
      for (const file of held.values()) closeSync(file);
    }
  });
}

/** Writes only a copy of the database, which SQLite can open directly. See writeBackup. */
export function writeDatabaseBackup(paths: DataPaths, target: NewFile): WrittenBackup {
  return withSnapshot(paths, target, (snapshot) => {
    copyDatabase(paths.databasePath, snapshot);
    const file = openSync(snapshot, "r");
    try {
      return { sizeBytes: copyInto(target, file, () => {}), uploads: { files: 0, bytes: 0 } };
    } finally {
      closeSync(file);
    }
  });
}

/**
 * Runs `write` with the path of a temporary snapshot and removes the snapshot. SQLite writes only to a path, and this
 * process may have no rights any more where the target is.
 */
function withSnapshot(
  paths: DataPaths,
  target: NewFile,
  write: (snapshot: string) => Omit<WrittenBackup, "database">,
): WrittenBackup {
  let snapshot: string | null = null;
  try {
    const { version } = databaseFacts(paths.databasePath);
    snapshot = newBackupPath(paths.databasePath, "backup", version, Date.now(), "database");
    return { ...write(snapshot), database: databaseFacts(snapshot) };
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const why = isDiskFull(error) ? "the disk is full" : messageOf(error);
    throw new BackupError(`can't write the backup ${target.path}: ${why}`, { cause: error });
  } finally {
    if (snapshot !== null) rmSync(snapshot, { force: true });
  }
}

/** Returns the recordings that were uploaded or fetched, from a database of any version. */
function uploadsIn(databasePath: string): Upload[] {
  using database = new Database(databasePath, { readonly: true });
  database.run("PRAGMA busy_timeout = 10000");
  return database
    .query<{ id: string; open: number }, []>(
      "SELECT id, status IN ('queued', 'processing') AS open FROM recordings WHERE size_bytes IS NOT NULL ORDER BY id",
    )
    .all()
    .map(({ id, open }) => ({ id, isOpen: open === 1 }));
}

/** Opens the files of queued and processing recordings, which are few; files that are open already stay open. */
function openAll(paths: DataPaths, uploads: readonly Upload[], held: ReadonlyMap<string, number>) {
  const opened = new Map(held);
  for (const { id, isOpen } of uploads) {
    if (!isOpen || opened.has(id)) continue;
    const file = openIfThere(paths.filesOf(id).upload);
    if (file !== null) opened.set(id, file);
  }
  return opened;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function writeArchive(paths: DataPaths, snapshot: string, target: NewFile, held: ReadonlyMap<string, number>) {
  const files: Manifest["files"] = [];
  const add = (name: string, path: string, open: number | undefined) => {
    const file = open ?? openIfThere(path);
    if (file === null) return;
    try {
      files.push({ name, ...appendFile(target, name, file) });
    } finally {
      if (open === undefined) closeSync(file);
    }
  };
  add(databaseName, snapshot, undefined);
  for (const { id } of uploadsIn(snapshot)) add(uploadName(id), paths.filesOf(id).upload, held.get(id));
  const manifest: Manifest = { format: "transcribe-backup", version: 1, files };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  target.write(tarHeader({ name: manifestName, sizeBytes: text.length }));
  target.write(text);
  target.write(Buffer.alloc(tarPadding(text.length) + 2 * TAR_BLOCK_BYTES));
  const uploads = files.slice(1);
  return {
    uploads: { files: uploads.length, bytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) },
    sizeBytes: fstatSync(target.descriptor).size,
  };
}

/** Appends a file to the archive. An existing file is complete and never changes. */
function appendFile(target: NewFile, name: string, file: number): { sizeBytes: number; sha256: string } {
  const sizeBytes = fstatSync(file).size;
  target.write(tarHeader({ name, sizeBytes }));
  const hash = createHash("sha256");
  const copied = copyInto(target, file, (piece) => hash.update(piece));
  if (copied !== sizeBytes) throw new Error(`${name} became shorter while it was read`);
  target.write(Buffer.alloc(tarPadding(sizeBytes)));
  return { sizeBytes, sha256: hash.digest("hex") };
}

/**
 * Copies a file into the archive.
 * @returns the number of bytes copied, which is the initial size unless the file became shorter
 */
function copyInto(target: NewFile, file: number, onPiece: (piece: Uint8Array) => void): number {
  const sizeBytes = fstatSync(file).size;
  const buffer = Buffer.alloc(pieceBytes);
  let done = 0;
  while (done < sizeBytes) {
    const count = readSync(file, buffer, 0, Math.min(pieceBytes, sizeBytes - done), done);
    if (count === 0) break;
    const piece = buffer.subarray(0, count);
    onPiece(piece);
    target.write(piece);
    done += count;
  }
  return done;
}
