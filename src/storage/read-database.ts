import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Store } from "./database.ts";
import * as schema from "./schema.ts";

/**
 * Opens a database to look into it, whatever its version, and leaves no file behind: SQLite would make a log beside a
 * database that nobody uses, with this user as its owner. While a server runs, what is read is what it wrote last.
 * @throws what SQLite says where it can't be read
 */
export function readDatabase(path: string): Store {
  const inUse = existsSync(`${path}-wal`);
  const url = `${pathToFileURL(path).href}${inUse ? "" : "?immutable=1"}`;
  const client = new Database(url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  return drizzle({ client, schema, casing: "snake_case" });
}
