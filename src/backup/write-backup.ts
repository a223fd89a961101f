import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, rmSync } from "node:fs";
import { BackupError, copyDatabase, type DatabaseFacts, databaseFacts, values } from "../database/index.ts";
import { machineTrouble, type NewFile } from "../disk/index.ts";
import { readPieces, tar } from "../files/index.ts";
import { type DataPaths, newBackupPath } from "../storage/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { DATABASE_NAME, MANIFEST_NAME, type Manifest, uploadName } from "./archive.ts";

/** The content and size of a backup. */
interface WrittenBackup {
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

interface BackupOptions {
  /** Writes a copy of the database without recordings, which SQLite can open directly. */
  readonly databaseOnly?: boolean;
  /** Copies the database to a new file. */
  readonly copy?: (from: string, to: string) => void;
}

/** Maximum number of attempts to copy the database and all uploads that it needs. */
const MAX_ATTEMPTS = 5;

/**
 * Writes the database and its recordings into one file, while a server may process them. The archive has the upload of
 * every recording that is queued or processing in the database copy. Of finished recordings, it has the uploads that
 * are still stored. The database copy is made in `backups/` of the data directory. It takes as much space as the
 * database until the backup is written.
 * @param target published by the caller after this returns
 * @throws {BackupError} when the disk is full or not writable, the source is not a database, or recordings finish so
 * fast that no copy of the database has all uploads that it needs
 */
export function writeBackup(
  paths: DataPaths,
  target: NewFile,
  { databaseOnly = false, copy = copyDatabase }: BackupOptions = {},
): WrittenBackup {
  // SQLite writes only to a path, and this process may have no rights any more where the target is.
  let snapshot: string | null = null;
  const held = new Map<string, number>();
  try {
    const { version } = databaseFacts(paths.databasePath);
    snapshot = newBackupPath(paths.databasePath, "backup", version, Date.now(), "database");
    if (databaseOnly) copy(paths.databasePath, snapshot);
    else copyWithUploads(paths, snapshot, held, copy);
    const uploads = databaseOnly ? copyFile(target, snapshot) : writeArchive(paths, snapshot, target, held);
    return { uploads, sizeBytes: fstatSync(target.descriptor).size, database: databaseFacts(snapshot) };
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const why = machineTrouble(error)?.kind === "disk_full" ? "the disk is full" : messageOf(error);
    throw new BackupError(`can't write the backup ${target.path}: ${why}`, { cause: error });
  } finally {
    for (const file of held.values()) closeSync(file);
    if (snapshot !== null) rmSync(snapshot, { force: true });
  }
}

/**
 * Copies the database and opens the uploads of its open recordings. A recording that finishes meanwhile may be removed
 * at once, but an open file stays readable.
 * @param held receives the open files by recording; the caller closes them
 */
function copyWithUploads(
  paths: DataPaths,
  snapshot: string,
  held: Map<string, number>,
  copy: (from: string, to: string) => void,
): void {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    rmSync(snapshot, { force: true });
    holdOpenUploads(paths, uploadsIn(paths.databasePath), held);
    copy(paths.databasePath, snapshot);
    const copied = uploadsIn(snapshot);
    holdOpenUploads(paths, copied, held);
    const missing = copied.filter(({ id, isOpen }) => isOpen && !held.has(id));
    if (missing.length === 0) return;
    // The upload of a recording that is still open was lost before. The backup is as complete as the data directory.
    const stillOpen = new Set(uploadsIn(paths.databasePath).flatMap(({ id, isOpen }) => (isOpen ? id : [])));
    if (missing.every(({ id }) => stillOpen.has(id))) return;
  }
  throw new BackupError(
    `can't write a complete backup: during each of ${MAX_ATTEMPTS} attempts a recording finished and its audio was removed; run the command again, or stop the server first`,
  );
}

/** Returns the recordings that were uploaded or fetched, from a database of any version. */
function uploadsIn(databasePath: string): Upload[] {
  using database = new Database(databasePath, { readonly: true });
  database.run("PRAGMA busy_timeout = 10000");
  return database
    .query<{ id: string; open: number }, []>(
      `SELECT id, status ${values.oneOf(values.openStates)} AS open FROM recordings WHERE size_bytes IS NOT NULL ORDER BY id`,
    )
    .all()
    .map(({ id, open }) => ({ id, isOpen: open === 1 }));
}

/** Opens the files of queued and processing recordings, which are few, unless they are open already. */
function holdOpenUploads(paths: DataPaths, uploads: readonly Upload[], held: Map<string, number>): void {
  for (const { id, isOpen } of uploads) {
    if (!isOpen || held.has(id)) continue;
    const file = openIfThere(paths.localAudio.pathOf(id));
    if (file !== null) held.set(id, file);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Writes a copy of a file that is no archive. */
function copyFile(target: NewFile, path: string): WrittenBackup["uploads"] {
  const file = openSync(path, "r");
  try {
    readPieces(file, 0, fstatSync(file).size, (piece) => target.write(piece));
    return { files: 0, bytes: 0 };
  } finally {
    closeSync(file);
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
  add(DATABASE_NAME, snapshot, undefined);
  for (const { id } of uploadsIn(snapshot)) add(uploadName(id), paths.localAudio.pathOf(id), held.get(id));
  const manifest: Manifest = { format: "transcribe-backup", version: 1, files };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  target.write(tar.header({ name: MANIFEST_NAME, sizeBytes: text.length }));
  target.write(text);
  target.write(Buffer.alloc(tar.padding(text.length) + 2 * tar.BLOCK_BYTES));
  const uploads = files.slice(1);
  return { files: uploads.length, bytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
}

/** Appends a file to the archive. An existing file is complete and never changes. */
function appendFile(target: NewFile, name: string, file: number): { sizeBytes: number; sha256: string } {
  const sizeBytes = fstatSync(file).size;
  target.write(tar.header({ name, sizeBytes }));
  const hash = createHash("sha256");
  const copied = readPieces(file, 0, sizeBytes, (piece) => {
    hash.update(piece);
    target.write(piece);
  });
  if (copied !== sizeBytes) throw new Error(`${name} became shorter while it was read`);
  target.write(Buffer.alloc(tar.padding(sizeBytes)));
  return { sizeBytes, sha256: hash.digest("hex") };
}
