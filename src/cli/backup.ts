import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { copyDatabase, DataPaths, databaseFacts, foreignPlace, newBackupPath, ownAs } from "../storage/index.ts";
import { size } from "../wording/index.ts";
import { CommandError } from "./command-error.ts";
import { print } from "./output.ts";
import { addSettingsOptions, settingsOf } from "./settings-options.ts";

/** transcribe backup [FILE] */
export function backupCommand(): Command {
  return addSettingsOptions(new Command("backup"), ["storage.data_dir"])
    .description("Copy the database to one file, with the server up or down; not the audio.")
    .argument("[file]", "where to; it must not be there yet (default: a new name in backups/ of the data directory)")
    .option("--json", "print what was copied as JSON")
    .action((file: string | undefined, options: { json?: boolean }, command: Command) => {
      const root = resolve(settingsOf(command).storage.data_dir);
      const databasePath = join(root, "transcribe.db");
      if (!existsSync(databasePath))
        throw new CommandError(
          `there is no database in ${root}, or you may not look there; name it with --data-dir, and be its user`,
        );
      const foreign = foreignPlace(new DataPaths(root), process.geteuid?.() ?? 0);
      if (foreign !== null) throw new CommandError(`${root} is not to be worked in: ${foreign}`);
      const { version } = databaseFacts(databasePath);
      const target = file === undefined ? newBackupPath(databasePath, "backup", version, Date.now()) : resolve(file);
      copyDatabase(databasePath, target);
      if (file === undefined) ownAs(root, target);
      const facts = databaseFacts(target);
      const uploads = sizeOf(join(root, "uploads"));
      print(options.json === true, { file: target, ...facts, left_out: { uploads } }, () =>
        [
          `${target}: ${size(facts.bytes)}, accounts: ${facts.accounts}, recordings: ${facts.recordings} (not ended: ${facts.open}), of transcribe ${facts.version}`,
          `Not in it: audio (uploads/: ${uploads.files} files, ${size(uploads.bytes)}), models, the settings file.`,
        ].join("\n"),
      );
    });
}

function sizeOf(directory: string): { files: number; bytes: number } {
  const sizes = existsSync(directory)
    ? readdirSync(directory).map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0)
    : [];
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
