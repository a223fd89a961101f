import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { backupDirectory } from "./backups.ts";
import type { DataPaths } from "./data-paths.ts";

/**
 * Why a data directory is not to be worked in, in words; null for a good one. Its owner can change everything in it:
 * - root, whose commands work on a service's data too, must not be led out of it by links that the service's user put there;
 * - anybody else finds no use for a stranger's directory that is open to all, and would leave recordings to that stranger.
 * @param userId who works there
 */
export function foreignPlace(paths: DataPaths, userId: number): string | null {
  const { uid, mode } = statSync(paths.root);
  if (userId !== 0) {
    const isTrap = uid !== userId && uid !== 0 && (mode & 0o002) !== 0;
    return isTrap ? `it belongs to another user (uid ${uid}) and is open to all` : null;
  }
  if (uid === 0) return null;
  const { root, incoming, uploads, work, listening, state, models, databasePath, lockPath } = paths;
  const logs = ["-wal", "-shm", "-journal"].map((suffix) => databasePath + suffix);
  const installed = ["installed", "downloads", "tmp"].map((name) => join(models, name));
  const places = [incoming, uploads, work, listening, state, models, ...installed, backupDirectory(databasePath)];
  for (const path of [...places, databasePath, ...logs, lockPath, join(root, "runtime")]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true && found.uid !== 0) {
      return `${path} is a link that its user made, and root follows none of those`;
    }
  }
  return null;
}
