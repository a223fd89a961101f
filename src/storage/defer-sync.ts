import type { Database } from "bun:sqlite";
import { open } from "node:fs/promises";
import type { Store } from "./database.ts";

/** Databases whose log is being synced; `again` when more was written since the sync began. */
const syncing = new WeakMap<Database, "once" | "again">();

/**
 * Writes data that can be computed again, such as progress. A crash of this process loses none of it; a power cut may
 * lose the last moments. The call does not wait for the disk, which may take a second while a long recording is being
 * written. The log is synced in the background.
 */
export function deferSync<T>(store: Store, write: () => T): T {
  const { $client: client } = store;
  // An open transaction determines the durability of its own writes.
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
      // The next write with synchronous = FULL, before a client gets its response, syncs this data too.
    }
  } while (syncing.get(client) === "again");
  syncing.delete(client);
}
