import { Database } from "bun:sqlite";
import { chmodSync, constants, copyFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../text/index.ts";
import { requireOwnValues } from "./backup-values.ts";
import { newBackupPath } from "./backups.ts";
import { BackupError, copyDatabase, syncFile } from "./copy-database.ts";
import type { DataDirectory } from "./data-directory.ts";
import { databaseState, MigrationError, pendingMigrations } from "./migrate.ts";
import { requireOwnSchema } from "./own-schema.ts";
import { syncDirectoryNow } from "./sync-directory.ts";

/**
 * Replaces the database with a backup. A power cut leaves either the old or the new database, complete. Recordings that
 * were being processed restart from their uploads. Call it with the data directory's lock held.
 * @param file a copy of the backup that nobody else can change during the call
 * @param before runs after the backup is checked and before the database is replaced
 * @returns the path of the previous database's copy; null when there was none
 * @throws {BackupError} when the file is missing, damaged or not a database of ours, or the disk is full; nothing is
 * changed then
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
  copyDatabase(file, incoming, forgetWork);
  try {
    before();
    const replaced = setAside(databasePath, now);
    renameSync(incoming, databasePath);
    syncDirectoryNow(root);
    directory.removeDerived();
    return replaced;
  } catch (error) {
    rmSync(incoming, { force: true });
    throw new BackupError(`can't replace ${databasePath}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Removes data that must not return with a backup. */
function forgetWork(copy: Database): void {
  // Checkpoints refer to files in work/ that belong to another database.
  copy.run("DELETE FROM checkpoints");
  // Console sessions of that time, or sessions planted in the backup, must not give access.
  for (const table of ["console_links", "console_sessions"])
    if (hasTable(copy, table)) copy.run(`DELETE FROM ${table}`);
  // Segments of recordings that were not completed yet.
  copy.run("DELETE FROM segments WHERE recording_id NOT IN (SELECT id FROM recordings WHERE status = 'completed')");
  // A path of another machine, or of a file that came with the backup, is not a model here: the current model replaces
  // it.
  if (hasTable(copy, "chosen_models"))
    copy.run(
      "UPDATE recordings SET speech_model = NULL, speech_model_sha256 = NULL WHERE speech_model LIKE '/%' AND status IN ('queued', 'processing')",
    );
}

/** Returns whether a table exists: a backup of an early version lacks some. */
function hasTable(database: Database, name: string): boolean {
  return database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== null;
}

/** Checks a backup, which may come from anybody, before it is used: https://sqlite.org/security.html */
function checkBackup(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new BackupError(`there is no file ${file}`);
  let backup: Database | null = null;
  try {
    backup = new Database(file, { readwrite: true });
    for (const guard of ["trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"])
      backup.run(`PRAGMA ${guard}`);
    const state = databaseState(backup);
    if (state.applied.length === 0) throw new BackupError("this is no database of transcribe");
    pendingMigrations(state);
    requireOwnSchema(backup);
    const found = backup.query<Record<string, string>, []>("PRAGMA integrity_check(1)").get()?.integrity_check ?? "";
    if (found !== "ok") throw new BackupError(`the backup is damaged: ${found.replaceAll("\n", " ")}`);
    requireOwnValues(backup);
  } catch (error) {
    if (error instanceof BackupError || error instanceof MigrationError) throw error;
    throw new BackupError(`the backup can't be read: ${messageOf(error)}`, { cause: error });
  } finally {
    backup?.close();
  }
}

/**
 * Copies the database to the backups and moves its `-wal` and `-shm` files there, so that they cannot mix with the next
 * database.
 */
function setAside(databasePath: string, now: number): string | null {
  if (statSync(databasePath, { throwIfNoEntry: false }) === undefined) return null;
  const target = newBackupPath(databasePath, "replaced", foldIn(databasePath), now);
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
function foldIn(databasePath: string): string {
  try {
    using database = new Database(databasePath, { readwrite: true });
    database.run("PRAGMA busy_timeout = 10000");
    // Leaving WAL mode removes the log; it fails while another process has the database open.
    database.run("PRAGMA journal_mode = DELETE");
    return databaseState(database).version;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") {
      throw new Error("another command has it open; try again");
    }
    return "damaged";
  }
}
