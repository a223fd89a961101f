import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { MigrationError, openDatabase, tables } from "../../src/database/index.ts";
import { migrate, migrationNames, migrationsUpTo } from "../../src/database/migrate.ts";

const first = { name: "0001", sql: "CREATE TABLE a (x INTEGER)" };
const second = { name: "0002", sql: "CREATE TABLE b (x INTEGER)" };

const tableNames = (database: Database) =>
  database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map((row) => row.name);

describe("migrations", () => {
  test("are applied once each, and only the new ones to an older database", () => {
    const database = new Database(":memory:");
    migrate(database, { list: [first] });
    migrate(database, { list: [first] });
    migrate(database, { list: [first, second] });
    expect(tableNames(database)).toEqual(["a", "b", "migrations"]);
  });

  test("do not change a database that is newer or has other migrations", () => {
    const database = new Database(":memory:");
    migrate(database, { list: [first, second] });
    expect(() => migrate(database, { list: [first] })).toThrow(MigrationError);
    expect(() => migrate(database, { list: [first] })).toThrow("newer than this one");
    expect(() => migrate(database, { list: [{ ...first, sql: `${first.sql} STRICT` }, second] })).toThrow("0001");
  });

  test("change nothing when one of them fails", () => {
    const database = new Database(":memory:");
    expect(() => migrate(database, { list: [first, { name: "0002", sql: "CREATE NONSENSE" }] })).toThrow();
    expect(tableNames(database)).toEqual([]);
  });

  test("keep the sessions of operators, which end a week after they began", () => {
    const database = new Database(":memory:");
    const all = migrationNames.map((name) => ({ name, sha256: "" }));
    const before = migrationsUpTo({ applied: all.slice(0, migrationNames.indexOf("0015-users")), version: "0.3.0" });
    migrate(database, { list: before });
    database.run(
      "INSERT INTO console_sessions VALUES ('a', 'root', 'link', 1000, 2000), ('b', 'password', 'password', 0, 0)",
    );
    migrate(database);
    const sessions = database
      .query("SELECT hash, actor, entered_by, user_id, seen_at, ends_at FROM console_sessions")
      .all();
    expect(sessions).toEqual([
      { hash: "a", actor: "root", entered_by: "link", user_id: null, seen_at: 2000, ends_at: 604_801_000 },
      { hash: "b", actor: "password", entered_by: "password", user_id: null, seen_at: 0, ends_at: 604_800_000 },
    ]);
  });

  test("create the tables that the typed schema describes", () => {
    const { $client } = openDatabase(":memory:");
    for (const table of Object.values(tables)) {
      if (!is(table, SQLiteTable)) continue;
      const columns = $client
        .query<{ name: string; notnull: number }, []>(`PRAGMA table_info(${getTableName(table)})`)
        .all();
      const declared = Object.values(getTableColumns(table)).map((column) => [
        column.name.replace(/[A-Z]/g, (letter: string) => `_${letter.toLowerCase()}`),
        column.notNull,
      ]);
      expect(columns.map((column) => [column.name, column.notnull === 1]).sort()).toEqual(declared.sort());
    }
  });
});
