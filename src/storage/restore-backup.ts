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
  /** Where the database that was there before lies now; null when there was none. */
  readonly replaced: string | null;
  /** Recordings that came with the backup. */
  readonly uploads: number;
}

/**
 * Puts a backup in the place of what a data directory holds: one with its recordings, or a copy of the database alone. See
 * restoreDatabase. Recordings that are there by the same names are replaced, others stay until the next start sweeps them.
 * @throws {BackupError} @throws {MigrationError} and changes nothing then
 */
export function restoreBackup(directory: DataDirectory, backup: BackupFile, now: number): Restored {
  // The next start sweeps this place, should we not get to the end.
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
