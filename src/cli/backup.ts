import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { BackupFile, entryBlockingRestore, restoreBackup, writeBackup } from "../backup/index.ts";
import { BackupError, databaseFacts } from "../database/index.ts";
import { NewFile } from "../disk/index.ts";
import { DataDirectory, DataDirectoryInUseError, DataPaths, newBackupPath, requireActive } from "../storage/index.ts";
import { count, messageOf, size } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { type JsonOption, print } from "./output.ts";
import { someText } from "./parse-option.ts";
import { printable } from "./printable.ts";
import { dataSettingsOf, dataSettingsWith, settingsCommand } from "./settings-options.ts";

/** transcribe backup [FILE] */
export function backupCommand(): Command {
  return settingsCommand("backup", "Write the database and its recordings to one file; a running server need not stop.")
    .argument("[file]", "a new file (default: a new name in backups/ of the data directory)", someText)
    .option("--database-only", "back up only the database, without the recordings")
    .action(async (file: string | undefined, options: JsonOption & { databaseOnly?: true }, command: Command) => {
      const databaseOnly = options.databaseOnly === true;
      const { target, paths } = file === undefined ? ownTarget(command, databaseOnly) : namedTarget(file, command);
      using _target = target;
      const { sizeBytes, database, uploads } = writeBackup(paths, target, { databaseOnly });
      await target.publish().catch((error: unknown) => refuse(target.path, error));
      print(options, { file: target.path, ...database, bytes: sizeBytes, uploads }, () => {
        const audio = `Includes the audio of ${count(uploads.files, "recording")}, ${size(uploads.bytes)}.`;
        return [
          `${target.path}: ${size(sizeBytes)}, ${contentOf(database)}`,
          databaseOnly
            ? "Not included: audio, models, the settings file."
            : `${audio} Not included: models, the settings file.`,
        ].join("\n");
      });
    });
}

/** Summarizes a database for people. */
function contentOf({ accounts, recordings, open, version }: ReturnType<typeof databaseFacts>): string {
  return `accounts: ${accounts}, recordings: ${recordings} (queued or processing: ${open}), of transcribe ${version}`;
}

interface Target {
  readonly target: NewFile;
  readonly paths: DataPaths;
}

/** Opens a new file in the data directory as the backup's target. */
function ownTarget(command: Command, databaseOnly: boolean): Target {
  const paths = requireDatabase(dataSettingsOf(command).storage.data_dir);
  const { version } = databaseFacts(paths.databasePath);
  const path = newBackupPath(paths.databasePath, "backup", version, Date.now(), databaseOnly ? "db" : "tar");
  return { target: openTarget(path, false), paths };
}

function namedTarget(file: string, command: Command): Target {
  const path = resolve(file);
  const { settings, opened } = dataSettingsWith(command, path, (givesUpRights) => openTarget(path, givesUpRights));
  try {
    return { target: opened, paths: requireDatabase(settings.storage.data_dir) };
  } catch (error) {
    opened[Symbol.dispose]();
    throw error;
  }
}

function requireDatabase(dataDirectory: string): DataPaths {
  const paths = new DataPaths(dataDirectory);
  if (existsSync(paths.databasePath)) return paths;
  throw new CommandError(
    `there is no database in ${paths.root}, or you may not read it; check --data-dir and the user`,
  );
}

function openTarget(path: string, givesUpRights: boolean): NewFile {
  if (existsSync(path)) throw new BackupError(`${path} exists already`);
  try {
    return new NewFile(path, { givesUpRights });
  } catch (error) {
    return refuse(path, error);
  }
}

function refuse(path: string, error: unknown): never {
  throw new BackupError(`can't write the backup ${path}: ${messageOf(error)}`, { cause: error });
}

/** transcribe restore FILE */
export function restoreCommand(): Command {
  return settingsCommand("restore", "Restore a backup into a data directory whose server is stopped.")
    .argument("<file>", "a file that transcribe backup wrote", someText)
    .option("--replace", "replace the content of the data directory; its database is moved to backups/")
    .action((file: string, options: JsonOption & { replace?: boolean }, command: Command) => {
      const { settings, opened } = dataSettingsWith(command, file, () => new BackupFile(resolve(file)));
      using backup = opened;
      const root = settings.storage.data_dir;
      if (options.replace !== true) requireEmpty(new DataPaths(root));
      const directory = new DataDirectory(root);
      using _lock = takeLock(directory);
      requireActive(directory);
      const { replaced, uploads } = restoreBackup(directory, backup, Date.now());
      const facts = databaseFacts(directory.databasePath);
      print(options, { database: directory.databasePath, ...facts, uploads, replaced }, () =>
        [
          `restored ${file} to ${directory.databasePath}: ${contentOf(facts)}`,
          ...(uploads === 0 ? [] : [`Includes the audio of ${count(uploads, "recording")}.`]),
          ...(replaced === null ? [] : [`The previous database: ${replaced}`]),
          "What was revoked, disabled or deleted after the backup is valid and present again: keys, recordings, users, voices. The next start removes audio files that the database does not name.",
        ].join("\n"),
      );
    });
}

function requireEmpty(paths: DataPaths): void {
  const found = entryBlockingRestore(paths);
  if (found === null) return;
  throw new CommandError(
    `${paths.root} is not empty: it has ${printable(found)}; name an empty directory with --data-dir, or replace it with --replace`,
  );
}

function takeLock(directory: DataDirectory): Disposable {
  try {
    return { [Symbol.dispose]: directory.lock() };
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
    throw new CommandError(`a server uses ${directory.root}; stop it first`);
  }
}
