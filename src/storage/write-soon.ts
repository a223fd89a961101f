import type { Database } from "bun:sqlite";
import { open } from "node:fs/promises";
import type { Store } from "./database.ts";

/** Whether a database's log is being synced: `again` where more was written since that began. */
const syncing = new WeakMap<Database, "once" | "again">();

/**
 * Writes what can be found out again: how far work is. A crash of this process loses nothing of it, a power cut the last
 * moments, since the disk is not waited for, which may take a second while a long recording is written beside. It is told
 * to sync, aside.
 */
export function writeSoon<T>(store: Store, write: () => T): T {
  const { $client: client } = store;
  // A transaction that is open already decides for what is in it.
  if (client.inTransaction) return write();
  client.run("PRAGMA synchronous = NORMAL");
  try {
    return write();
  } finally {
    client.run("PRAGMA synchronous = FULL");
    syncAside(client);
  }
}

function syncAside(client: Database): void {
  if (client.filename === ":memory:") return;
  const isSyncing = syncing.has(client);
  syncing.set(client, isSyncing ? "again" : "once");
  if (!isSyncing) void syncLog(client);
}

async function syncLog(client: Database): Promise<void> {
  do {
    syncing.set(client, "once");
    try {
      const log = await open(`${client.filename}-wal`, "r");
      await log.datasync().finally(() => log.close());
    } catch {
      // What can't be synced is, with the next thing that a client is told.
    }
  } while (syncing.get(client) === "again");
  syncing.delete(client);
}
