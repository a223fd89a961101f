import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import {
  copyDatabase,
  DataPaths,
  databaseFacts,
  foreignPlace,
  newBackupPath,
  ownAs,
  type WrittenBackup,
  writeBackup,
} from "../storage/index.ts";
import { count, size } from "../wording/index.ts";
import { CommandError } from "./command-error.ts";
import { print } from "./output.ts";
import { addSettingsOptions, settingsOf } from "./settings-options.ts";

/** transcribe backup [FILE] */
export function backupCommand(): Command {
  return addSettingsOptions(new Command("backup"), ["storage.data_dir"])
    .description("Put the database and the recordings that it names into one file, with the server up or down.")
    .argument("[file]", "where to; it must not be there yet (default: a new name in backups/ of the data directory)")
    .option("--database-only", "copy the database alone, without the recordings")
    .option("--json", "print what was copied as JSON")
    .action((file: string | undefined, options: { json?: boolean; databaseOnly?: boolean }, command: Command) => {
      const root = resolve(settingsOf(command).storage.data_dir);
      const databasePath = join(root, "transcribe.db");
      if (!existsSync(databasePath))
        throw new CommandError(
          `there is no database in ${root}, or you may not look there; name it with --data-dir, and be its user`,
        );
      const paths = new DataPaths(root);
      const foreign = foreignPlace(paths, process.geteuid?.() ?? 0);
      if (foreign !== null) throw new CommandError(`${root} is not to be worked in: ${foreign}`);
      const { version } = databaseFacts(databasePath);
      const alone = options.databaseOnly === true;
      const target =
        file === undefined
          ? newBackupPath(databasePath, "backup", version, Date.now(), alone ? "db" : "tar")
          : resolve(file);
      const { sizeBytes, database, uploads } = alone ? copyAlone(databasePath, target) : writeBackup(paths, target);
      if (file === undefined) ownAs(root, target);
      print(options.json === true, { file: target, ...database, bytes: sizeBytes, uploads }, () =>
        [
          `${target}: ${size(sizeBytes)}, accounts: ${database.accounts}, recordings: ${database.recordings} (not ended: ${database.open}), of transcribe ${database.version}`,
          alone
            ? "Not in it: audio, models, the settings file."
            : `With the audio of ${count(uploads.files, "recording")}, ${size(uploads.bytes)}. Not in it: models, the settings file.`,
        ].join("\n"),
      );
    });
}

function copyAlone(databasePath: string, target: string): WrittenBackup {
  copyDatabase(databasePath, target);
  const database = databaseFacts(target);
  return { sizeBytes: database.bytes, database, uploads: { files: 0, bytes: 0 } };
}
