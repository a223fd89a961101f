import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Store } from "./database.ts";
import * as schema from "./schema.ts";

/**
 * Opens a database of any version for reading only and leaves no file behind. SQLite would otherwise create a log,
 * owned by this user, next to an unused database. While a server runs, reads return its latest writes.
 * @throws an SQLite error when the database cannot be read
 */
export function readDatabase(path: string): Store {
  const inUse = existsSync(`${path}-wal`);
  const url = `${pathToFileURL(path).href}${inUse ? "" : "?immutable=1"}`;
  const client = new Database(url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  return drizzle({ client, schema, casing: "snake_case" });
}
