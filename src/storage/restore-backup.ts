import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../text/index.ts";
import { unpackBackup } from "./archive/index.ts";
import type { BackupFile } from "./backup-file.ts";
import { BackupError } from "./copy-database.ts";
import type { DataDirectory } from "./data-directory.ts";
import { isDiskFull } from "./disk-full.ts";
import { restoreDatabase } from "./restore-database.ts";
import { syncDirectoryNow } from "./sync-directory.ts";

export interface Restored {
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
    if (!isDiskFull(error)) throw error;
    throw new BackupError(`can't unpack ${backup.path}: the disk of ${directory.root} is full (${messageOf(error)})`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
