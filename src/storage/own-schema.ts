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

/** Without what SQLite makes for itself: the indexes of constraints, which have no SQL, sequences and statistics. */
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
