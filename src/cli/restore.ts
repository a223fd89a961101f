import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { DataDirectory, DataDirectoryInUseError, databaseFacts, restoreDatabase } from "../storage/index.ts";
import { CommandError } from "./command-error.ts";
import { print } from "./output.ts";
import { addSettingsOptions, settingsOf } from "./settings-options.ts";

/** transcribe restore FILE */
export function restoreCommand(): Command {
  return addSettingsOptions(new Command("restore"), ["storage.data_dir"])
    .description("Put a backup in the place of the database, with the server stopped; the replaced one is kept.")
    .argument("<file>", "a backup that transcribe made")
    .option("--json", "print what was restored as JSON")
    .action((file: string, options: { json?: boolean }, command: Command) => {
      if (!existsSync(file)) throw new CommandError(`there is no file ${file}`);
      const directory = new DataDirectory(settingsOf(command).storage.data_dir);
      using _lock = takeLock(directory);
      const replaced = restoreDatabase(directory, resolve(file), Date.now());
      const facts = databaseFacts(directory.databasePath);
      print(options.json === true, { database: directory.databasePath, ...facts, replaced }, () =>
        [
          `${directory.databasePath} is ${file} now: accounts: ${facts.accounts}, recordings: ${facts.recordings} (not ended: ${facts.open}), of transcribe ${facts.version}`,
          ...(replaced === null ? [] : [`The database that was there: ${replaced}`]),
          "Since the backup revoked keys work again, and deleted recordings are back; audio that this database doesn't know goes with the next start.",
        ].join("\n"),
      );
    });
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
