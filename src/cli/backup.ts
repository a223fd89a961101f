import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { BackupError, DataPaths, databaseFacts, NewFile, newBackupPath, writeBackup } from "../storage/index.ts";
import { count, messageOf, size } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { print } from "./output.ts";
import { addSettingsOptions, dataSettingsOf, dataSettingsWith } from "./settings-options.ts";

/** transcribe backup [FILE] */
export function backupCommand(): Command {
  return addSettingsOptions(new Command("backup"), ["storage.data_dir"])
    .description("Put the database and the recordings that it names into one file, with the server up or down.")
    .argument("[file]", "where to; it must not be there yet (default: a new name in backups/ of the data directory)")
    .option("--database-only", "copy the database alone, without the recordings")
    .option("--json", "print what was copied as JSON")
    .action(async (file: string | undefined, options: BackupOptions, command: Command) => {
      const alone = options.databaseOnly === true;
      const { target, paths } = file === undefined ? ownTarget(command, alone) : namedTarget(file, command);
      using _target = target;
      const { sizeBytes, database, uploads } = writeBackup(paths, target, { databaseOnly: alone });
      await target.publish().catch((error: unknown) => refuse(target.path, error));
      print(options.json === true, { file: target.path, ...database, bytes: sizeBytes, uploads }, () =>
        [
          `${target.path}: ${size(sizeBytes)}, accounts: ${database.accounts}, recordings: ${database.recordings} (not ended: ${database.open}), of transcribe ${database.version}`,
          alone
            ? "Not in it: audio, models, the settings file."
            : `With the audio of ${count(uploads.files, "recording")}, ${size(uploads.bytes)}. Not in it: models, the settings file.`,
        ].join("\n"),
      );
    });
}

interface BackupOptions {
  readonly json?: boolean;
  readonly databaseOnly?: boolean;
}

interface Target {
  readonly target: NewFile;
  readonly paths: DataPaths;
}

/** Opens a new file in the data directory as the backup's target. */
function ownTarget(command: Command, alone: boolean): Target {
  const paths = requireDatabase(dataSettingsOf(command).storage.data_dir);
  const { version } = databaseFacts(paths.databasePath);
  const path = newBackupPath(paths.databasePath, "backup", version, Date.now(), alone ? "db" : "tar");
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
    `there is no database in ${paths.root}, or you may not look there; name it with --data-dir, and be its user`,
  );
}

function openTarget(path: string, givesUpRights: boolean): NewFile {
  if (existsSync(path)) throw new BackupError(`there is a file ${path} already`);
  try {
    return new NewFile(path, { givesUpRights });
  } catch (error) {
    return refuse(path, error);
  }
}

function refuse(path: string, error: unknown): never {
  throw new BackupError(`can't write the backup ${path}: ${messageOf(error)}`, { cause: error });
}
