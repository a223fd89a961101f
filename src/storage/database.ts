import { Database } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "./migrate.ts";
import * as schema from "./schema.ts";

export type Store = BunSQLiteDatabase<typeof schema> & { readonly $client: Database };

/**
 * Opens the database and brings it to this version's schema. The server and CLI commands may have it open at once.
 * @param path file, or `:memory:`
 */
export function openDatabase(path: string): Store {
  const client = new Database(path, { create: true, strict: true });
  // busy_timeout first: the statements after it may already meet another process's lock.
  client.run("PRAGMA busy_timeout = 10000");
  client.run("PRAGMA journal_mode = WAL");
  // FULL: what a client was answered survives a power cut.
  client.run("PRAGMA synchronous = FULL");
  client.run("PRAGMA foreign_keys = ON");
  // What a client deleted shall not lie in free pages.
  client.run("PRAGMA secure_delete = ON");
  migrate(client);
  return drizzle({ client, schema, casing: "snake_case" });
}
