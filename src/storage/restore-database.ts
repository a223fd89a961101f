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
 * Puts a backup in the place of the database. A power cut leaves the one or the other, whole. Recordings that were in work
 * begin again from what was sent. Call it with the data directory's lock held.
 * @param file a copy of the backup that nobody else can change meanwhile
 * @param before what is put in its place first, once the backup is known to be good
 * @returns where the database that was there before lies now; null when there was none
 * @throws {BackupError} for a file that is missing, damaged or no database of ours, or a full disk; nothing is changed then
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
  // The next start sweeps this place, should we not get to the end.
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

/** Removes what is not to come back with a backup. */
function forgetWork(copy: Database): void {
  // Checkpoints speak of files in work/ that are another database's.
  copy.run("DELETE FROM checkpoints");
  // Who was signed in then, or planted in the backup that he is, is not let in by it.
  for (const table of ["console_links", "console_sessions"])
    if (hasTable(copy, table)) copy.run(`DELETE FROM ${table}`);
  // Some of a recording that was about to be completed.
  copy.run("DELETE FROM segments WHERE recording_id NOT IN (SELECT id FROM recordings WHERE status = 'completed')");
  // A path of another machine, or of a file that came with the backup, is no model here: the model in use takes its place.
  if (hasTable(copy, "chosen_models"))
    copy.run(
      "UPDATE recordings SET speech_model = NULL, speech_model_sha256 = NULL WHERE speech_model LIKE '/%' AND status IN ('queued', 'processing')",
    );
}

/** A backup of an early version lacks some. */
function hasTable(database: Database, name: string): boolean {
  return database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== null;
}

/** Looks at a backup that may come from anybody, before anything is done with it: https://sqlite.org/security.html */
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

/** Copies the database to the backups, and leaves nothing beside its one file that the next one could be mixed with. */
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

/** Brings the write-ahead log into the database, where that can be read at all. @returns the version that last used it */
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
