import { Database } from "bun:sqlite";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { BackupError, copyDatabase, databaseState, hasTable, values } from "../database/index.ts";
import { machineTrouble } from "../disk/index.ts";
import { syncDirectoryNow, syncFile } from "../files/index.ts";
import { type DataDirectory, type DataPaths, newBackupPath } from "../storage/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { unpackBackup } from "./archive.ts";
import type { BackupFile } from "./backup-file.ts";
import { checkBackup } from "./check-backup.ts";

/** Entries that a data directory may contain although nothing was recorded in it. */
const HARMLESS_ENTRIES = new Set(["lost+found", "server.lock", "runtime", "models", "state", "backups", "incoming"]);
const FOLDERS_ALLOWED_EMPTY = new Set(["uploads", "work", "listening", "live"]);

/**
 * Returns the first entry of a data directory that a restore would replace or that is not ours; null if there is none.
 */
export function entryBlockingRestore(paths: DataPaths): string | null {
  if (!existsSync(paths.root)) return null;
  for (const name of readdirSync(paths.root)) {
    if (HARMLESS_ENTRIES.has(name)) continue;
    if (FOLDERS_ALLOWED_EMPTY.has(name) && readdirSync(join(paths.root, name)).length === 0) continue;
    return name;
  }
  return null;
}

interface Restored {
  /** Path of the previous database's copy; null when there was none. */
  readonly replaced: string | null;
  /** Number of recording files in the backup. */
  readonly uploads: number;
}

/**
 * Replaces the content of a data directory with a backup: an archive with recordings, or a copy of the database alone.
 * See restoreDatabase. Recording files of the same name are replaced; others stay until the next start removes them.
 * @throws {BackupError} @throws {MigrationError} and changes nothing then
 */
export function restoreBackup(directory: DataDirectory, backup: BackupFile, now: number): Restored {
  // The next start removes this folder if the restore is interrupted.
  const folder = join(directory.incoming, "restore");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const database = join(folder, "transcribe.db");
    const uploads = backup.isArchive()
      ? unpackBackup(backup.descriptor, folder).filter((name) => name.startsWith("uploads/"))
      : [];
    if (!backup.isArchive()) backup.copyDatabaseTo(database);
    const replaced = restoreDatabase(directory, database, now, () => {
      for (const name of uploads) renameSync(join(folder, name), join(directory.root, name));
      syncDirectoryNow(directory.uploads);
    });
    return { replaced, uploads: uploads.length };
  } catch (error) {
    if (error instanceof BackupError || machineTrouble(error)?.kind !== "disk_full") throw error;
    throw new BackupError(`can't unpack ${backup.path}: the disk of ${directory.root} is full (${messageOf(error)})`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Replaces the database with a backup. A power cut leaves either the old or the new database, complete. Recordings that
 * were being processed restart from their uploads. Call it with the data directory's lock held.
 * @param file a copy of the backup that nobody else can change during the call
 * @param before runs after the backup is checked and before the database is replaced
 * @returns the path of the previous database's copy; null when there was none
 * @throws {BackupError} for a missing or damaged file, a foreign database, or a full disk; changes nothing then
 * @throws {MigrationError} for a backup of a newer version
 */
export function restoreDatabase(
  directory: DataDirectory,
  file: string,
  now: number,
  before: () => void = () => {},
): string | null {
  const { databasePath, root } = directory;
  checkBackup(file);
  // The next start removes this file if the restore is interrupted.
  const incoming = join(directory.incoming, "transcribe.db");
  rmSync(incoming, { force: true });
  copyDatabase(file, incoming, removeTransientRows);
  try {
    before();
    const replaced = moveAside(databasePath, now);
    renameSync(incoming, databasePath);
    syncDirectoryNow(root);
    directory.removeDerived();
    return replaced;
  } catch (error) {
    rmSync(incoming, { force: true });
    throw new BackupError(`can't replace ${databasePath}: ${messageOf(error)}`, { cause: error });
  }
}

/** Removes data that must not return with a backup. */
function removeTransientRows(copy: Database): void {
  // Checkpoints refer to files in work/ that belong to another database.
  copy.run("DELETE FROM checkpoints");
  // Sessions of that time, or planted in the backup, must not give access. Early versions lack the tables.
  for (const table of ["console_links", "console_sessions"])
    if (hasTable(copy, table)) copy.run(`DELETE FROM ${table}`);
  // Whoever waited for these recordings is gone.
  if (hasTable(copy, "outbox")) copy.run("DELETE FROM outbox");
  // Receivers got these events since, or they came with the backup.
  if (hasTable(copy, "webhook_deliveries")) copy.run("DELETE FROM webhook_deliveries");
  // A planted position beyond the end would keep later entries from the receiver of the audit log.
  if (hasTable(copy, "audit_forwarding"))
    copy.run("UPDATE audit_forwarding SET position = min(position, (SELECT coalesce(max(id), 0) FROM audit_log))");
  // Segments of recordings that were not completed yet.
  for (const table of ["segments", "translated_segments"]) {
    if (!hasTable(copy, table)) continue;
    copy.run(`DELETE FROM ${table} WHERE recording_id NOT IN (SELECT id FROM recordings WHERE status = 'completed')`);
  }
  // A path of another machine, or of a file that came with the backup, is no model here. The current model replaces it.
  if (hasTable(copy, "chosen_models"))
    copy.run(
      `UPDATE recordings SET speech_model = NULL, speech_model_sha256 = NULL WHERE speech_model LIKE '/%' AND status ${values.oneOf(values.openStates)}`,
    );
}

/** Copies the database to the backups, and moves its `-wal` and `-shm` files there, away from the next database. */
function moveAside(databasePath: string, now: number): string | null {
  if (statSync(databasePath, { throwIfNoEntry: false }) === undefined) return null;
  const target = newBackupPath(databasePath, "replaced", mergeLog(databasePath), now);
  const partial = `${target}.partial`;
  copyFileSync(databasePath, partial, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(partial, 0o600);
  syncFile(partial);
  renameSync(partial, target);
  for (const suffix of ["-wal", "-shm"]) {
    if (statSync(databasePath + suffix, { throwIfNoEntry: false }) !== undefined) {
      renameSync(databasePath + suffix, target + suffix);
    }
  }
  syncDirectoryNow(dirname(target));
  return target;
}

/**
 * Merges the write-ahead log into the database if it can be read.
 * @returns the version that last used it, or `damaged`
 */
function mergeLog(databasePath: string): string {
  try {
    using database = new Database(databasePath, { readwrite: true });
    database.run("PRAGMA busy_timeout = 10000");
    // Leaving WAL mode removes the log; it fails while another process has the database open.
    database.run("PRAGMA journal_mode = DELETE");
    return databaseState(database).version;
  } catch (error) {
    if (codeOf(error) === "SQLITE_BUSY") {
      throw new Error("another command has it open; try again");
    }
    return "damaged";
  }
}
