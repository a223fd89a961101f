import { constants, Database } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { databaseTrouble } from "../disk/index.ts";
import { programVersion } from "../program/index.ts";
import {
  type DataDirectory,
  DataDirectoryInUseError,
  newBackupPath,
  pruneUpgradeBackups,
  requireActive,
  upgradeBackups,
} from "../storage/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { copyDatabase } from "./copy-database.ts";
import { GuardedDatabase } from "./guarded-database.ts";
import { databaseState, MigrationError, migrate, NewerDatabaseError, pendingMigrations } from "./migrate.ts";
import * as schema from "./schema.ts";

export type Store = BunSQLiteDatabase<typeof schema> & { readonly $client: Database };

/** The store, or a transaction of it. */
export type Writer = Pick<Store, "select" | "insert" | "update" | "delete" | "all" | "run">;

/**
 * Runs a transaction that takes the write lock at its start. One that takes it later, after it has read, fails when
 * another process writes in between.
 */
export function transact<T>(store: Store, work: (writer: Writer) => T): T {
  return store.transaction(work, { behavior: "immediate" });
}

/** Returns a function that prepares statements once for each store: building one anew takes longer than running it. */
export function preparedFor<T>(prepare: (store: Store) => T): (store: Store) => T {
  const known = new WeakMap<Store, T>();
  return (store) => {
    const statements = known.get(store) ?? prepare(store);
    known.set(store, statements);
    return statements;
  };
}

/** A completed upgrade of a database to this version's schema. */
export interface Upgrade {
  readonly fromVersion: string;
  readonly toVersion: string;
  /** Path of the copy that was made before the upgrade. */
  readonly backup: string;
}

/**
 * Opens the database and migrates it to this version's schema; a database that is not empty is copied first. Commands
 * may have the database open at the same time, but a server of another version must not. Call it with the data
 * directory's lock held, or for a directory that no other process uses.
 * @param path file, or `:memory:`
 * @throws {MigrationError} when the database is damaged or newer, or when the disk has no space for the copy; nothing
 * is changed then
 */
export function openDatabase(path: string, onUpgrade: (upgrade: Upgrade) => void = () => {}): Store {
  const client = connect(path);
  try {
    let upgrade: Upgrade | null = null;
    migrate(client, {
      beforeUpgrade: (fromVersion) => {
        upgrade = { fromVersion, toVersion: programVersion, backup: copyBeforeUpgrade(path, fromVersion) };
      },
    });
    if (upgrade !== null) onUpgrade(upgrade);
  } catch (error) {
    client.close();
    throw withAdvice(error, path);
  }
  return asStore(client);
}

/**
 * Opens the database for a command, which may run at the same time as a server. Upgrades the database only when no
 * server runs: a server of an earlier version would continue with tables that it does not know.
 * @throws {MigrationError} as openDatabase does, and when a server of an earlier version uses a database to be upgraded
 * @throws {InactiveDirectoryError} for the directory of a standby, or of a server that was replaced
 */
export function openDatabaseOf(directory: DataDirectory, onUpgrade?: (upgrade: Upgrade) => void): Store {
  requireActive(directory);
  const path = directory.databasePath;
  // A starting server holds the lock for a moment before its upgrade is complete.
  for (let attempts = 20; ; attempts--) {
    const client = connect(path);
    try {
      const state = databaseState(client);
      if (pendingMigrations(state).length === 0) return asStore(client);
      client.close();
      if (state.applied.length === 0) return openDatabase(path);
      using stack = new DisposableStack();
      stack.defer(directory.lock());
      return openDatabase(path, onUpgrade);
    } catch (error) {
      client.close();
      if (!(error instanceof DataDirectoryInUseError)) throw withAdvice(error, path);
      if (attempts === 0) throw olderServerError(directory);
      Bun.sleepSync(100);
    }
  }
}

/**
 * Calls a check right before each commit and each single write of a store that `openDatabase` opened. What it throws
 * ends the write.
 */
export function checkWrites({ $client }: Store, check: () => void): void {
  if (!($client instanceof GuardedDatabase)) throw new TypeError("the store is open for reading only");
  $client.check = check;
}

/**
 * Opens a database of any version for reading only and leaves no file behind. SQLite would otherwise create a log,
 * owned by this user, next to an unused database. While a server runs, reads return its latest writes.
 * @throws an SQLite error when the database cannot be read
 */
export function readDatabase(path: string): Store {
  const inUse = existsSync(`${path}-wal`);
  const url = `${pathToFileURL(path).href}${inUse ? "" : "?immutable=1"}`;
  const client = new Database(url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  return asStore(client);
}

function connect(path: string): GuardedDatabase {
  let client: GuardedDatabase | null = null;
  try {
    makeFile(path);
    client = new GuardedDatabase(path, { create: true, strict: true });
    // busy_timeout first: the next statements may already meet another process's lock.
    client.run("PRAGMA busy_timeout = 10000");
    client.run("PRAGMA journal_mode = WAL");
    // FULL: data that a client got a response for survives a power cut.
    client.run("PRAGMA synchronous = FULL");
    client.run("PRAGMA foreign_keys = ON");
    // Data that a client deleted must not remain in free pages.
    client.run("PRAGMA secure_delete = ON");
    return client;
  } catch (error) {
    client?.close();
    throw withAdvice(error, path);
  }
}

/** Creates the database as an empty file. The files that SQLite creates for it get the same owner and mode. */
function makeFile(path: string): void {
  if (path === ":memory:" || existsSync(path)) return;
  try {
    // Exclusive creation does not follow a link whose target does not exist yet.
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    // Another process created it meanwhile.
    if (codeOf(error) === "EEXIST") return;
    throw error;
  }
}

const asStore = (client: Database): Store => drizzle({ client, schema, casing: "snake_case" });

function copyBeforeUpgrade(path: string, fromVersion: string): string {
  let backup: string;
  try {
    backup = newBackupPath(path, "transcribe", fromVersion, Date.now());
    copyDatabase(path, backup);
  } catch (error) {
    const why = messageOf(error);
    throw new MigrationError(
      `transcribe ${programVersion} has to change the database, which ${fromVersion} used last, and copies it before: ${why}. Nothing was changed`,
      { cause: error },
    );
  }
  pruneUpgradeBackups(path, Date.now());
  return backup;
}

/** Returns the error with advice for the operator; an unknown error is returned unchanged. */
function withAdvice(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT") {
    return new MigrationError(
      `${path} is damaged, or no database of transcribe; put a backup in its place: transcribe restore --replace FILE`,
      { cause: error },
    );
  }
  const trouble = databaseTrouble(error);
  if (trouble !== null) {
    return new MigrationError(
      `${path} can't be opened (${trouble}); be the user that the server runs as, and see: transcribe doctor`,
      { cause: error },
    );
  }
  if (!(error instanceof NewerDatabaseError)) return error;
  const usable = upgradeBackups(path).find(isUsable);
  return new MigrationError(
    usable === undefined
      ? `${error.message}. Start that version again, or go back to a backup made with this one: transcribe restore --replace FILE`
      : `${error.message}. Start that version again, or go back to the copy made before the upgrade, without what came after: transcribe restore --replace ${usable} --data-dir ${dirname(path)}`,
    { cause: error },
  );
}

function isUsable(path: string): boolean {
  try {
    using database = new Database(path, { readonly: true });
    const state = databaseState(database);
    pendingMigrations(state);
    return state.applied.length > 0;
  } catch {
    return false;
  }
}

function olderServerError({ root, databasePath }: DataDirectory): MigrationError {
  using database = new Database(databasePath, { readonly: true });
  const { version } = databaseState(database);
  return new MigrationError(
    `a server of an earlier version, ${version}, uses ${root}; restart it with this version, ${programVersion}, which brings the database up to date`,
  );
}
