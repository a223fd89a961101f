import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DataDirectory, openDatabase, restoreDatabase } from "../../src/storage/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { releasedVersions, writeReleased } from "./released/index.ts";

/** A backup that somebody worked on. */
function changed(path: string, sql: string): string {
  openDatabase(path).$client.close();
  using database = new Database(path, { readwrite: true });
  database.run(sql);
  return path;
}

describe("a backup that somebody changed", () => {
  const changes: [string, string][] = [
    [
      "a trigger that gives every revoked key back",
      "CREATE TRIGGER again AFTER UPDATE ON api_keys BEGIN UPDATE api_keys SET revoked_at = NULL; END",
    ],
    ["a trigger on what the restore itself deletes", "CREATE TRIGGER t DELETE ON checkpoints BEGIN SELECT 1; END"],
    ["a view", "CREATE VIEW more AS SELECT * FROM accounts"],
    ["a table", "CREATE TABLE more (x)"],
    ["an index on an expression", "CREATE INDEX more ON accounts (hex(name))"],
    ["a column that is made by an expression", "ALTER TABLE accounts ADD COLUMN more TEXT AS (hex(name))"],
    ["a table that is gone", "DROP TABLE audit_log"],
  ];
  test.each(changes)("is refused with %s, and nothing is changed", (_, sql) => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const store = openDatabase(directory.databasePath);
    store.$client.run("INSERT INTO versions (version, since) VALUES ('mine', 0)");
    store.$client.close();
    const backup = changed(join(parent.path, "backup.db"), sql);
    expect(() => restoreDatabase(directory, backup, 0)).toThrow("it was changed by others");
    using kept = new Database(directory.databasePath, { readonly: true });
    expect(kept.query("SELECT version FROM versions ORDER BY position DESC").get()).toEqual({ version: "mine" });
    expect(readdirSync(directory.incoming)).toEqual([]);
  });

  test("names no file by what it says of its version", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const backup = changed(
      join(parent.path, "backup.db"),
      "INSERT INTO versions (version, since) VALUES ('/../../../outside/\u001b[2J', 0)",
    );
    restoreDatabase(directory, backup, 0);
    const replaced = restoreDatabase(directory, backup, 0) ?? "";
    expect(replaced).toBe(join(directory.root, "backups/replaced-unknown-19700101T000000000Z.db"));
    expect(existsSync(replaced)).toBe(true);
    expect(readdirSync(parent.path).filter((name) => !name.startsWith("backup.db"))).toEqual(["data"]);
  });
});

test.each([...releasedVersions])("a backup of %s is what its migrations made", (version) => {
  using parent = temporaryDirectory();
  const directory = new DataDirectory(join(parent.path, "data"));
  const backup = join(parent.path, "backup.db");
  writeReleased(version, backup);
  expect(restoreDatabase(directory, backup, 0)).toBeNull();
});
