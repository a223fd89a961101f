import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import first from "./migrations/0001-first.sql" with { type: "text" };
import models from "./migrations/0002-models.sql" with { type: "text" };

interface Migration {
  readonly name: string;
  readonly sql: string;
}

const migrations: readonly Migration[] = [
  { name: "0001-first", sql: first },
  { name: "0002-models", sql: models },
];

/** The database is not one that this version can open. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/**
 * Brings the database to this version's schema, all in one transaction. A migration that was applied is never changed:
 * its SHA-256 is kept and compared.
 * @throws {MigrationError} for a database of a newer version, or one whose applied migrations differ from ours
 */
export function migrate(database: Database, list: readonly Migration[] = migrations): void {
  const run = database.transaction(() => {
    database.run(
      "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT",
    );
    const applied = database
      .query<{ name: string; sha256: string }, []>("SELECT name, sha256 FROM migrations ORDER BY position")
      .all();
    if (applied.length > list.length) {
      throw new MigrationError(
        `the database was written by a newer version (it knows ${applied.at(-1)?.name}); start that version, or restore a backup`,
      );
    }
    list.forEach((migration, position) => {
      const sha256 = createHash("sha256").update(migration.sql).digest("hex");
      const before = applied[position];
      if (before === undefined) {
        database.run(migration.sql);
        database.run("INSERT INTO migrations VALUES (?, ?, ?)", [position, migration.name, sha256]);
      } else if (before.name !== migration.name || before.sha256 !== sha256) {
        throw new MigrationError(
          `the database's migration ${before.name} is not the ${migration.name} of this version`,
        );
      }
    });
  });
  run.immediate();
}
