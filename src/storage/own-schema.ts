import { Database } from "bun:sqlite";
import { BackupError } from "./copy-database.ts";
import { databaseState, migrate, migrationsUpTo } from "./migrate.ts";

/**
 * Sees that a database has the tables and indexes that our migrations make, to the letter, and nothing else. A trigger or a
 * view that somebody put in would work on in the server: one could bring a revoked key back.
 * @throws {BackupError}
 */
export function requireOwnSchema(database: Database): void {
  using ours = new Database(":memory:");
  migrate(ours, { list: migrationsUpTo(databaseState(database)) });
  const expected = schemaOf(ours);
  const found = schemaOf(database);
  if (found.length === expected.length && found.every((entry, index) => entry === expected[index])) return;
  throw new BackupError(
    "the backup has tables, triggers or views that transcribe does not make: it was changed by others",
  );
}

/** SQLite's own tables and indexes aside, which hold no code. */
function schemaOf(database: Database): string[] {
  return database
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR type NOT IN ('table', 'index')",
    )
    .all()
    .map((row) => JSON.stringify(row))
    .sort();
}
