import type { Settings } from "../config/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import { DataDirectory, openDatabase, type Store } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { programFilesFor } from "./program-files-for.ts";

/** What a server works on: no other has it meanwhile. */
export interface TakenData {
  readonly dataDirectory: DataDirectory;
  readonly files: ProgramFiles;
  readonly store: Store;
}

/**
 * Takes the data directory and opens the database in it.
 * @param taken gives both back
 * @throws {DataDirectoryInUseError} @throws {MigrationError}
 */
export async function takeData(settings: Settings, taken: AsyncDisposableStack, log: Logger): Promise<TakenData> {
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  taken.defer(dataDirectory.lock());
  // They are unpacked into it, and what is wrong with it is said as such.
  const files = await programFilesFor(settings);
  const store = openDatabase(dataDirectory.databasePath, (upgrade) =>
    log.info({ event: "storage.upgraded", ...upgrade }),
  );
  taken.defer(() => store.$client.close());
  return { dataDirectory, files, store };
}
