import type { Database } from "bun:sqlite";
import { closeSync, fstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { readAt } from "../files/index.ts";
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
    syncInBackground(client);
  }
}

function syncInBackground(client: Database): void {
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

/** A log that is held for a standby, so that nothing is emptied before the standby has it. */
interface LogFollower {
  readonly isHolding: () => boolean;
  /** Empties a held log, unless the standby lacks some of it. */
  readonly empty: () => Promise<unknown>;
}

const followed = new WeakMap<Database, LogFollower>();

/** Lets `truncateLog` empty a held log in another way. @returns a function that ends it */
export function followLog({ $client: client }: Store, follower: LogFollower): () => void {
  followed.set(client, follower);
  return () => void followed.delete(client);
}

/** Maximum number of attempts while other connections read the log. */
const MAX_ATTEMPTS = 40;
const ATTEMPT_MILLISECONDS = 100;

/**
 * Empties the database's write-ahead log, which still holds data that was overwritten in the database itself. Waits at
 * most four seconds for connections that read the log, such as a backup. It does not wait inside SQLite, which would
 * block the process. A running server repeats it every hour. If a standby is followed in another process, that one
 * empties the log every few seconds.
 * @returns whether the log is empty, or was, or is held for a standby, which has it emptied later
 */
export async function truncateLog(store: Store): Promise<boolean> {
  const { $client: client } = store;
  const follower = followed.get(client);
  if (follower?.isHolding()) {
    await follower.empty();
    return true;
  }
  const before = logFile(client);
  const busyTimeout = client.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0;
  const truncate = () => {
    client.run("PRAGMA busy_timeout = 0");
    try {
      return client.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy !== 1;
    } finally {
      client.run(`PRAGMA busy_timeout = ${busyTimeout}`);
    }
  };
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    if (attempts > 0) await sleep(ATTEMPT_MILLISECONDS);
    const now = logFile(client);
    if (truncate() || (now.header !== before.header && now.bytes < before.bytes)) return true;
  }
  return false;
}

/** Returns the size of a log and its header, which changes whenever the log starts again. */
function logFile({ filename }: Database): { readonly bytes: number; readonly header: string } {
  try {
    const log = openSync(`${filename}-wal`, "r");
    try {
      return { bytes: fstatSync(log).size, header: readAt(log, 0, 32).toString("hex") };
    } finally {
      closeSync(log);
    }
  } catch {
    return { bytes: 0, header: "" };
  }
}
