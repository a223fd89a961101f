import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "./database.ts";

/** How long those who read the log are waited for. */
const mostTries = 100;
const tryMilliseconds = 100;

/**
 * Empties the database's log of earlier writes, which still holds what was overwritten in the database itself. Those who
 * read in it, a backup for one, are waited for ten seconds at most, and not in SQLite, which would hold up the process.
 */
export async function cutLog({ $client: client }: Store): Promise<void> {
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
