import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { programVersion } from "../program/index.ts";
import { ExpectedError } from "../text/index.ts";
import first from "./migrations/0001-first.sql" with { type: "text" };
import models from "./migrations/0002-models.sql" with { type: "text" };
import versions from "./migrations/0003-versions.sql" with { type: "text" };
import vocabulary from "./migrations/0004-vocabulary.sql" with { type: "text" };
import deleted from "./migrations/0005-deleted.sql" with { type: "text" };
import growth from "./migrations/0006-growth.sql" with { type: "text" };
import consoleTables from "./migrations/0007-console.sql" with { type: "text" };
import hints from "./migrations/0008-hints.sql" with { type: "text" };
import machines from "./migrations/0009-machines.sql" with { type: "text" };
import transient from "./migrations/0010-transient.sql" with { type: "text" };
import recordingModels from "./migrations/0011-recording-models.sql" with { type: "text" };
import endedAt from "./migrations/0012-ended-at.sql" with { type: "text" };
import outbox from "./migrations/0013-outbox.sql" with { type: "text" };
import revisions from "./migrations/0014-revisions.sql" with { type: "text" };
import users from "./migrations/0015-users.sql" with { type: "text" };
import folders from "./migrations/0016-folders.sql" with { type: "text" };
import voices from "./migrations/0017-voices.sql" with { type: "text" };
import incompleteFiles from "./migrations/0018-incomplete-files.sql" with { type: "text" };
import searchWords from "./migrations/0019-search-words.sql" with { type: "text" };
import reruns from "./migrations/0020-reruns.sql" with { type: "text" };
import audioTracks from "./migrations/0021-audio-tracks.sql" with { type: "text" };
import uncertainSpeakers from "./migrations/0022-uncertain-speakers.sql" with { type: "text" };
import live from "./migrations/0023-live.sql" with { type: "text" };
import webhooks from "./migrations/0024-webhooks.sql" with { type: "text" };
import tags from "./migrations/0025-tags.sql" with { type: "text" };
import translations from "./migrations/0026-translations.sql" with { type: "text" };
import accountSettings from "./migrations/0027-account-settings.sql" with { type: "text" };
import auditForwarding from "./migrations/0028-audit-forwarding.sql" with { type: "text" };
import serving from "./migrations/0029-serving.sql" with { type: "text" };
import translatedFolders from "./migrations/0030-translated-folders.sql" with { type: "text" };
import databaseId from "./migrations/0031-database-id.sql" with { type: "text" };

interface Migration {
  readonly name: string;
  readonly sql: string;
}

/**
 * All migrations, in order; a new one is added at the end. Released migrations never change: test/database/released
 * holds databases that they made.
 */
const migrations: readonly Migration[] = [
  { name: "0001-first", sql: first },
  { name: "0002-models", sql: models },
  { name: "0003-versions", sql: versions },
  { name: "0004-vocabulary", sql: vocabulary },
  { name: "0005-deleted", sql: deleted },
  { name: "0006-growth", sql: growth },
  { name: "0007-console", sql: consoleTables },
  { name: "0008-hints", sql: hints },
  { name: "0009-machines", sql: machines },
  { name: "0010-transient", sql: transient },
  { name: "0011-recording-models", sql: recordingModels },
  { name: "0012-ended-at", sql: endedAt },
  { name: "0013-outbox", sql: outbox },
  { name: "0014-revisions", sql: revisions },
  { name: "0015-users", sql: users },
  { name: "0016-folders", sql: folders },
  { name: "0017-voices", sql: voices },
  { name: "0018-incomplete-files", sql: incompleteFiles },
  { name: "0019-search-words", sql: searchWords },
  { name: "0020-reruns", sql: reruns },
  { name: "0021-audio-tracks", sql: audioTracks },
  { name: "0022-uncertain-speakers", sql: uncertainSpeakers },
  { name: "0023-live", sql: live },
  { name: "0024-webhooks", sql: webhooks },
  { name: "0025-tags", sql: tags },
  { name: "0026-translations", sql: translations },
  { name: "0027-account-settings", sql: accountSettings },
  { name: "0028-audit-forwarding", sql: auditForwarding },
  { name: "0029-serving", sql: serving },
  { name: "0030-translated-folders", sql: translatedFolders },
  { name: "0031-database-id", sql: databaseId },
];

/** Names of all migrations, in order. */
export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** The first version, which did not store its version number in the database. */
const FIRST_VERSION = "0.1.0";

/** The database cannot be opened by this version. */
export class MigrationError extends ExpectedError {
  override readonly name = "MigrationError";
}

/** The database was written by a newer version. */
export class NewerDatabaseError extends MigrationError {}

/** The applied migrations of a database and the version that used it last. */
interface DatabaseState {
  /** Applied migrations in order; empty for an empty database. */
  readonly applied: readonly { readonly name: string; readonly sha256: string }[];
  /** Program version that last served the database. */
  readonly version: string;
}

/** Reads the applied migrations and the last version. @throws an SQLite error when the file is not a database */
export function databaseState(database: Database): DatabaseState {
  const applied = hasTable(database, "migrations")
    ? database
        .query<DatabaseState["applied"][number], []>("SELECT name, sha256 FROM migrations ORDER BY position")
        .all()
    : [];
  const last = hasTable(database, "versions")
    ? database.query<{ version: string }, []>("SELECT version FROM versions ORDER BY position DESC LIMIT 1").get()
    : null;
  return { applied, version: versionOf(last?.version ?? (applied.length === 0 ? programVersion : FIRST_VERSION)) };
}

/** Returns a version that is safe in file names and messages, else `unknown`: a backup may come from anybody. */
function versionOf(text: string): string {
  return /^[0-9A-Za-z.+-]{1,64}$/.test(text) ? text : "unknown";
}

/** Returns our migrations up to the number that a database has applied. */
export function migrationsUpTo({ applied }: DatabaseState): readonly Migration[] {
  return migrations.slice(0, applied.length);
}

/**
 * Returns the migrations that a database lacks.
 * @throws {MigrationError} when the database is of a newer version, or its applied migrations differ from ours
 */
export function pendingMigrations(
  { applied, version }: DatabaseState,
  list: readonly Migration[] = migrations,
): readonly Migration[] {
  applied.forEach((before, position) => {
    const ours = list[position];
    if (ours === undefined) {
      throw new NewerDatabaseError(
        `the database was last used by transcribe ${version} (migration ${applied.at(-1)?.name}), which is newer than this one, ${programVersion}`,
      );
    }
    if (before.name !== ours.name || before.sha256 !== digest(ours)) {
      throw new MigrationError(
        `the database's migration ${before.name} is not the ${ours.name} of this version, ${programVersion}; transcribe ${version} used it last`,
      );
    }
  });
  return list.slice(applied.length);
}

/**
 * Migrates a database to this version's schema in one transaction and stores this version in it.
 * @param beforeUpgrade called before a database that is not empty is changed, while it is locked against writers
 * @throws {MigrationError} as pendingMigrations does
 */
export function migrate(
  database: Database,
  { list = migrations, beforeUpgrade = () => {} }: MigrateOptions = {},
): void {
  const run = database.transaction(() => {
    const state = databaseState(database);
    const pending = pendingMigrations(state, list);
    if (pending.length > 0 && state.applied.length > 0) beforeUpgrade(state.version);
    database.run(
      "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT",
    );
    for (const [index, migration] of pending.entries()) {
      database.run(migration.sql);
      const row = [state.applied.length + index, migration.name, digest(migration)];
      database.run("INSERT INTO migrations VALUES (?, ?, ?)", row);
    }
    if (hasTable(database, "versions") && (pending.length > 0 || state.version !== programVersion)) {
      database.run("INSERT INTO versions (version, since) VALUES (?, ?)", [programVersion, Date.now()]);
    }
  });
  run.immediate();
}

interface MigrateOptions {
  readonly list?: readonly Migration[];
  readonly beforeUpgrade?: (fromVersion: string) => void;
}

/** Returns whether an ordinary table exists. Views and virtual tables do not count, because reading them runs code. */
export function hasTable(database: Database, name: string): boolean {
  const found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?";
  return database.query(found).get(name) !== null;
}

function digest({ sql }: Migration): string {
  return createHash("sha256").update(sql).digest("hex");
}
