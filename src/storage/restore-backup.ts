import { closeSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../wording/index.ts";
import { unpackBackup } from "./archive/index.ts";
import { BackupError } from "./copy-database.ts";
import type { DataDirectory } from "./data-directory.ts";
import { isDiskFull } from "./disk-full.ts";
import { ownAs } from "./own-as.ts";
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
export function restoreBackup(directory: DataDirectory, file: string, now: number): Restored {
  if (isDatabase(file)) return { replaced: restoreDatabase(directory, file, now), uploads: 0 };
  // The next start sweeps this place, should we not get to the end.
  const folder = join(directory.incoming, "restore");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const uploads = unpackBackup(file, folder).filter((name) => name.startsWith("uploads/"));
    const replaced = restoreDatabase(directory, join(folder, "transcribe.db"), now, () => {
      for (const name of uploads) {
        ownAs(directory.root, join(folder, name));
        renameSync(join(folder, name), join(directory.root, name));
      }
      syncDirectoryNow(directory.uploads);
    });
    return { replaced, uploads: uploads.length };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new BackupError(`can't unpack ${file}: the disk of ${directory.root} is full (${messageOf(error)})`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a file is SQLite's; what else it may be is said by who reads it. */
function isDatabase(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throw new BackupError(`there is no file ${path}`);
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(257 + 5);
    readSync(file, head);
    return head.toString("ascii", 257) !== "ustar";
  } finally {
    closeSync(file);
  }
}
