import { Database } from "bun:sqlite";
import { BackupError } from "./copy-database.ts";
import { databaseState, migrate, migrationsUpTo } from "./migrate.ts";

/**
 * Requires that a database has exactly the tables and indexes that our migrations make. A foreign trigger or view would
 * stay active in the server: a trigger could restore a revoked key.
 * @throws {BackupError} when the schema differs
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

/**
 * Returns the schema without the entries that SQLite creates: indexes of constraints, which have no SQL, sequences and
 * statistics.
 */
function schemaOf(database: Database): string[] {
  return database
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL)
        AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))`,
    )
    .all()
    .map((row) => JSON.stringify(row))
    .sort();
}
