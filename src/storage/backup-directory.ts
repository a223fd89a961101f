import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Maximum number of upgrade backups that are kept. */
const MAX_UPGRADE_BACKUPS = 3;

const upgradeBackup = /^transcribe-.+-\d{8}T\d{9}Z\.db$/;

/** Returns the default directory for copies of a database. */
function backupDirectory(databasePath: string): string {
  return join(dirname(databasePath), "backups");
}

/**
 * Creates the directory for copies if it is missing, and returns the path of a new copy: for example
 * `backups/transcribe-0.1.0-20261121T135055123Z.db`.
 * @param kind `transcribe`: made by an upgrade, pruned automatically; `replaced`: by a restore; `backup`: by a command
 * @param now milliseconds since the epoch
 */
export function newBackupPath(
  databasePath: string,
  kind: "transcribe" | "backup" | "replaced",
  version: string,
  now: number,
  ending: "db" | "tar" | "database" = "db",
) {
  const directory = backupDirectory(databasePath);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const time = new Date(now).toISOString().replace(/[-:.]/g, "");
  return join(directory, `${kind}-${version}-${time}.${ending}`);
}

/** Returns the paths of the copies that upgrades made, newest first. */
export function upgradeBackups(databasePath: string): string[] {
  const timeOf = (path: string) => path.slice(path.lastIndexOf("-"));
  return filesIn(backupDirectory(databasePath))
    .filter((path) => upgradeBackup.test(basename(path)))
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

/**
 * Removes all but the newest copies that upgrades made, and leftovers of copies that a crash interrupted.
 * @param now milliseconds since the epoch
 * @param days maximum age of the copies that are kept
 */
export function pruneUpgradeBackups(databasePath: string, now: number, days = Number.POSITIVE_INFINITY): void {
  const isOlder = (path: string, ageDays: number) => {
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    return modified < now - ageDays * 86_400_000;
  };
  for (const [index, path] of upgradeBackups(databasePath).entries()) {
    if (index >= MAX_UPGRADE_BACKUPS || isOlder(path, days)) rmSync(path, { force: true });
  }
  for (const path of filesIn(backupDirectory(databasePath))) {
    if (/\.(?:partial|database)$/.test(path) && isOlder(path, 1)) rmSync(path, { force: true });
  }
}

/** Returns the paths of a directory's entries; an empty list when the directory cannot be read. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}
