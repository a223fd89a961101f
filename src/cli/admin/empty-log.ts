import { type Store, truncateLog } from "../../database/index.ts";

/**
 * Removes deleted data from the write-ahead log of the database, after a deletion. Reports on stderr if another program
 * prevents it, and when the data will be gone.
 */
export async function emptyLog(store: Store): Promise<void> {
  if (await truncateLog(store)) return;
  process.stderr.write(
    "deleted, but the file transcribe.db-wal still holds the data, because another program reads the database, such as a backup. A running server empties the file within an hour; without one, it is gone when the last program closes the database\n",
  );
}
