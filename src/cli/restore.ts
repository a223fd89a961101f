import { resolve } from "node:path";
import type { Command } from "commander";
import {
  BackupFile,
  DataDirectory,
  DataDirectoryInUseError,
  DataPaths,
  databaseFacts,
  entryBlockingRestore,
  restoreBackup,
} from "../storage/index.ts";
import { count } from "../text/index.ts";
import { contentOf } from "./backup.ts";
import { CommandError } from "./command-error.ts";
import { type JsonOption, print } from "./output.ts";
import { printable } from "./printable.ts";
import { dataSettingsWith, settingsCommand } from "./settings-options.ts";

/** transcribe restore FILE */
export function restoreCommand(): Command {
  return settingsCommand("restore", "Restore a backup into a data directory whose server is stopped.")
    .argument("<file>", "a file that transcribe backup wrote")
    .option("--replace", "replace the content of the data directory; its database is moved to backups/")
    .action((file: string, options: JsonOption & { replace?: boolean }, command: Command) => {
      const { settings, opened } = dataSettingsWith(command, file, () => new BackupFile(resolve(file)));
      using backup = opened;
      const root = settings.storage.data_dir;
      if (options.replace !== true) requireEmpty(new DataPaths(root));
      const directory = new DataDirectory(root);
      using _lock = takeLock(directory);
      const { replaced, uploads } = restoreBackup(directory, backup, Date.now());
      const facts = databaseFacts(directory.databasePath);
      print(options, { database: directory.databasePath, ...facts, uploads, replaced }, () =>
        [
          `restored ${file} to ${directory.databasePath}: ${contentOf(facts)}`,
          ...(uploads === 0 ? [] : [`Includes the audio of ${count(uploads, "recording")}.`]),
          ...(replaced === null ? [] : [`The previous database: ${replaced}`]),
          "Keys that were revoked and recordings that were deleted after the backup are valid and present again. The next start removes audio files that the database does not name.",
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
