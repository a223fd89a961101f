import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownAs } from "./own-as.ts";

/** How many of the copies that upgrades made are kept. */
const kept = 3;

const upgradeBackup = /^transcribe-.+-\d{8}T\d{9}Z\.db$/;

/** Where copies of a database lie unless said otherwise. */
export function backupDirectory(databasePath: string): string {
  return join(dirname(databasePath), "backups");
}

/**
 * A new name for a copy, in the directory for them: `backups/transcribe-0.1.0-20261121T135055123Z.db`.
 * @param kind `transcribe`: made by an upgrade, removed by itself after a while; `replaced`: by a restore; `backup`: by command
 * @param now milliseconds since the epoch
 */
export function newBackupPath(
  databasePath: string,
  kind: "transcribe" | "backup" | "replaced",
  version: string,
  now: number,
) {
  const directory = backupDirectory(databasePath);
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined) ownAs(dirname(databasePath), directory);
  const time = new Date(now).toISOString().replace(/[-:.]/g, "");
  return join(directory, `${kind}-${version}-${time}.db`);
}

/** The copies that upgrades made, newest first. */
export function upgradeBackups(directory: string): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  const timeOf = (name: string) => name.slice(name.lastIndexOf("-"));
  return names
    .filter((name) => upgradeBackup.test(name))
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .map((name) => join(directory, name));
}

/** Removes the copies that upgrades made, but for the last few. @param before also those made before: milliseconds since the epoch */
export function pruneUpgradeBackups(directory: string, before = 0): void {
  for (const [index, path] of upgradeBackups(directory).entries()) {
    if (index >= kept || statSync(path).mtimeMs < before) rmSync(path, { force: true });
  }
}
