import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "./database.ts";

/** Maximum number of attempts while other connections read the log. */
const mostTries = 100;
const tryMilliseconds = 100;

/**
 * Empties the database's write-ahead log, which still holds data that was overwritten in the database itself. Waits at
 * most ten seconds for connections that read the log, such as a backup. It does not wait inside SQLite, which would
 * block the process.
 */
export async function truncateLog({ $client: client }: Store): Promise<void> {
  const waits = client.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0;
  const isCut = () => {
    client.run("PRAGMA busy_timeout = 0");
    try {
      return client.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy !== 1;
    } finally {
      client.run(`PRAGMA busy_timeout = ${waits}`);
    }
  };
  for (let tries = 0; tries < mostTries && !isCut(); tries++) await sleep(tryMilliseconds);
}
