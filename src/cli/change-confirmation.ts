import type { Store } from "../database/index.ts";
import type { DataDirectory } from "../storage/index.ts";
import { CommandError } from "./command-error.ts";

/** A database that a command has opened. */
interface Opened {
  readonly store: Store;
  readonly directory: DataDirectory;
}

const opened: Opened[] = [];
/** A server writes its status each second. */
const FRESH_MILLISECONDS = 5_000;

/** Notes that a command has opened a database, which it may change. */
export function noteOpened(store: Store, directory: DataDirectory): Store {
  opened.push({ store, directory });
  return store;
}

/**
 * Waits until the standby has what the command has changed, if a server runs that waits for its standby.
 * @throws {CommandError} if the standby has not confirmed it
 */
export async function untilChangesConfirmed(): Promise<void> {
  for (const { directory } of opened.splice(0).filter(hasChanged)) {
    // Loaded late, because most commands need neither.
    const { readStatus } = await import("../replication/index.ts");
    const status = readStatus(directory);
    if (status?.role !== "server" || Date.now() - status.writtenAt > FRESH_MILLISECONDS) continue;
    const { requestConfirmation } = await import("../standby/index.ts");
    if (await requestConfirmation(directory)) continue;
    throw new CommandError(
      "the change was made, but the standby has not confirmed it (standby.wait), so a takeover may lose it; see: transcribe standby status",
    );
  }
}

function hasChanged({ store }: Opened): boolean {
  try {
    const query = store.$client.query<{ changes: number }, []>("SELECT total_changes() AS changes");
    return (query.get()?.changes ?? 0) > 0;
  } catch {
    // The command has closed it.
    return true;
  }
}
