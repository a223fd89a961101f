import type { Settings } from "../config/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import { DataDirectory, openDatabase, type Store } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { programFilesFor } from "./program-files-for.ts";

/** The data that a server uses; no other server uses it at the same time. */
export interface TakenData {
  readonly dataDirectory: DataDirectory;
  readonly files: ProgramFiles;
  readonly store: Store;
}

/**
 * Locks the data directory and opens the database in it.
 * @param taken stack that releases both
 * @throws {DataDirectoryInUseError} @throws {MigrationError}
 */
export async function takeData(settings: Settings, taken: AsyncDisposableStack, log: Logger): Promise<TakenData> {
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  taken.defer(dataDirectory.lock());
  // After the lock, because the files are unpacked into the data directory; errors of the directory are thus reported
  // as such.
  const files = await programFilesFor(settings);
  const store = openDatabase(dataDirectory.databasePath, (upgrade) =>
    log.info({ event: "storage.upgraded", ...upgrade }),
  );
  taken.defer(() => store.$client.close());
  return { dataDirectory, files, store };
}
