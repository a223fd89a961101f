import { resolve } from "node:path";
import { Command } from "commander";
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
import { CommandError } from "./command-error.ts";
import { print } from "./output.ts";
import { printable } from "./printable.ts";
import { addSettingsOptions, dataSettingsWith } from "./settings-options.ts";

/** transcribe restore FILE */
export function restoreCommand(): Command {
  return addSettingsOptions(new Command("restore"), ["storage.data_dir"])
    .description(
      "Put a backup into an empty data directory, or in the place of what is there, with the server stopped.",
    )
    .argument("<file>", "a backup that transcribe made")
    .option("--replace", "replace what the data directory holds; its database is kept in backups/")
    .option("--json", "print what was restored as JSON")
    .action((file: string, options: { json?: boolean; replace?: boolean }, command: Command) => {
      const { settings, opened } = dataSettingsWith(command, file, () => new BackupFile(resolve(file)));
      using backup = opened;
      const root = settings.storage.data_dir;
      if (options.replace !== true) requireEmpty(new DataPaths(root));
      const directory = new DataDirectory(root);
      using _lock = takeLock(directory);
      const { replaced, uploads } = restoreBackup(directory, backup, Date.now());
      const facts = databaseFacts(directory.databasePath);
      print(options.json === true, { database: directory.databasePath, ...facts, uploads, replaced }, () =>
        [
          `${directory.databasePath} is ${file} now: accounts: ${facts.accounts}, recordings: ${facts.recordings} (not ended: ${facts.open}), of transcribe ${facts.version}`,
          ...(uploads === 0 ? [] : [`With the audio of ${count(uploads, "recording")}.`]),
          ...(replaced === null ? [] : [`The database that was there: ${replaced}`]),
          "Since the backup revoked keys work again, and deleted recordings are back; audio that this database doesn't know goes with the next start.",
        ].join("\n"),
      );
    });
}

function requireEmpty(paths: DataPaths): void {
  const found = entryBlockingRestore(paths);
  if (found === null) return;
  throw new CommandError(
    `${paths.root} is not empty: it holds ${printable(found)}; name an empty one with --data-dir, or say --replace to put the backup in its place`,
  );
}

function takeLock(directory: DataDirectory): Disposable {
  try {
    const unlock = directory.lock();
    return { [Symbol.dispose]: unlock };
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
    throw new CommandError(`a server uses ${directory.root}; stop it, restore, and start it again`);
  }
}
