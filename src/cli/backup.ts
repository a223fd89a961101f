import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { BackupError, DataPaths, databaseFacts, NewFile, newBackupPath, writeBackup } from "../storage/index.ts";
import { count, messageOf, size } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { type JsonOption, print } from "./output.ts";
import { dataSettingsOf, dataSettingsWith, settingsCommand } from "./settings-options.ts";

/** transcribe backup [FILE] */
export function backupCommand(): Command {
  return settingsCommand("backup", "Write the database and its recordings to one file; a running server need not stop.")
    .argument("[file]", "a new file (default: a new name in backups/ of the data directory)")
    .option("--database-only", "back up only the database, without the recordings")
    .action(async (file: string | undefined, options: BackupOptions, command: Command) => {
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
export function contentOf({ accounts, recordings, open, version }: ReturnType<typeof databaseFacts>): string {
  return `accounts: ${accounts}, recordings: ${recordings} (queued or processing: ${open}), of transcribe ${version}`;
}

interface BackupOptions extends JsonOption {
  readonly databaseOnly?: boolean;
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
