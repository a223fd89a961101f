import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { limitNames, scopes } from "../../src/accounts/index.ts";
import { restoreDatabase } from "../../src/storage/backup/restore-backup.ts";
import { DataDirectory, openDatabase } from "../../src/storage/index.ts";
import { releasedVersions, writeReleased } from "./released/index.ts";

/** Creates a manipulated backup. */
function changed(path: string, sql: string): string {
  openDatabase(path).$client.close();
  using database = new Database(path, { readwrite: true });
  database.run(sql);
  return path;
}

describe("a manipulated backup", () => {
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
  test.each(changes)("is refused without a change if it has %s", (_, sql) => {
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

  const account = "01a1fdbb-a5b1-7058-8ea9-0c142185c001";
  const good = "01a1fdbb-a5b1-7058-8ea9-0c142185c002";
  const recording = (columns: string, values: string, id = `'${good}'`) =>
    `INSERT INTO recordings (id, account_id, status, created_at, updated_at${columns}) VALUES (${id}, '${account}', 'queued', 0, 0${values})`;
  const password = (costs: string) =>
    `INSERT INTO console_password VALUES (1, '$argon2id$v=19$${costs}$${"A".repeat(43)}$${"B".repeat(43)}', 0)`;
  const key = (scopes: string) =>
    `INSERT INTO api_keys (id, account_id, name, hint, hash, scopes, created_at) VALUES ('${good}', '${account}', 'a', 'a', 'a', '${scopes}', 0)`;
  const segment = (words: string) =>
    `${recording("", "")}; INSERT INTO segments VALUES ('${good}', 0, 0, 1, 0, 'a', '${words}')`;
  const values: [string, string, string][] = [
    ["a recording's id that leads outside", recording("", "", "'../../victim'"), "recordings.id"],
    ["a recording's id with more behind a NUL", recording("", "", `'${good}' || char(0) || '/../x'`), "recordings.id"],
    ["a recording's id that is a directory", recording("", "", "'.'"), "recordings.id"],
    ["a recording's id in capitals", recording("", "", `'${good.toUpperCase()}'`), "recordings.id"],
    ["a recording of no account", recording("", "").replace(account, good), "belong to no account"],
    ["an account's id that is none", "UPDATE accounts SET id = '../x'", "accounts.id"],
    [
      "a chosen model that is a path",
      "INSERT INTO chosen_models VALUES ('speech', '/etc/shadow', 0)",
      "chosen_models.model",
    ],
    [
      "a chosen model that leads outside",
      "INSERT INTO chosen_models VALUES ('speech', '../../x', 0)",
      "chosen_models.model",
    ],
    ["a choice of another kind", "INSERT INTO chosen_models VALUES ('voice', 'x', 0)", "chosen_models.kind"],
    ["a recording's model that leads outside", recording(", speech_model", ", '../x'"), "recordings.speech_model"],
    ["a digest that is none", recording(", speech_model_sha256", ", '../x'"), "recordings.speech_model_sha256"],
    ["a language that is an option", recording(", language", ", '-x'"), "recordings.language"],
    ["a link of another protocol", recording(", source_url", ", 'file:///etc/shadow'"), "recordings.source_url"],
    [
      "a vocabulary of megabytes",
      `UPDATE accounts SET vocabulary = printf('%.*c', 5000000, 'x')`,
      "accounts.vocabulary",
    ],
    ["a prompt of megabytes", recording(", prompt", ", printf('%.*c', 5000000, 'x')"), "recordings.prompt"],
    ["a recording of no speakers", recording(", min_speakers", ", 0"), "recordings.min_speakers"],
    ["a recording of millions of speakers", recording(", max_speakers", ", 5000000"), "recordings.max_speakers"],
    [
      "a machine whose name is an escape sequence",
      `${recording("", "")}; INSERT INTO recording_machines VALUES ('${good}', char(27) || '[2J', 1)`,
      "recording_machines.machine",
    ],
    [
      "a machine of less than one part",
      `${recording("", "")}; INSERT INTO recording_machines VALUES ('${good}', 'gpu1', 0)`,
      "recording_machines.parts",
    ],
    [
      "a model of a recording that is a relative path",
      `${recording("", "")}; INSERT INTO recording_models VALUES ('${good}', '../../etc/shadow', 1)`,
      "recording_models.model",
    ],
    [
      "a model of less than one part",
      `${recording("", "")}; INSERT INTO recording_models VALUES ('${good}', 'whisper-base', -1)`,
      "recording_models.parts",
    ],
    ["limits that are no object", "UPDATE accounts SET limits = '[]'", "accounts.limits"],
    ["limits that can't be parsed", "UPDATE accounts SET limits = '{'", "accounts.limits"],
    ["a limit that there is not", `UPDATE accounts SET limits = '{"all":1}'`, "accounts.limits"],
    ["a limit below zero", `UPDATE accounts SET limits = '{"creates_per_day":-1}'`, "accounts.limits"],
    ["a limit that is a text", `UPDATE accounts SET limits = '{"creates_per_day":"1"}'`, "accounts.limits"],
    ["scopes that can't be parsed", key("["), "api_keys.scopes"],
    ["a scope that there is not", key('["transcriptions:read","all"]'), "api_keys.scopes"],
    ["a scope that is no text", key("[null]"), "api_keys.scopes"],
    ["a key without a scope", key("[ ]"), "api_keys.scopes"],
    ["words that can't be parsed", segment('[["a",0,1,0.5]'), "segments.words"],
    ["words that are no list", segment('{"a":["a",0,1,0.5]}'), "segments.words"],
    ["a word that is nothing", segment("[null]"), "segments.words"],
    ["a word that is a text", segment('["word"]'), "segments.words"],
    ["a word without a probability", segment('[["a",0,1]]'), "segments.words"],
    ["a word that is a number", segment("[[1,0,1,0.5]]"), "segments.words"],
    ["a word whose time is a text", segment('[["a",0,1,0.5],["a","0",1,0.5]]'), "segments.words"],
    ["a word whose time is endless", segment('[["a",0,1e400,0.5]]'), "segments.words"],
    ["a word whose probability is an object", segment('[["a",0,1,{}]]'), "segments.words"],
    ["a word with a mark of another kind", segment('[["a",0,1,0.5,true]]'), "segments.words"],
    ["a word with more behind its mark", segment('[["a",0,1,0.5,false,false]]'), "segments.words"],
    [
      "a time that is no date",
      `UPDATE accounts SET subscribed_until = 8640000000000001; ${recording("", "")}`,
      "accounts.subscribed_until",
    ],
    [
      "a recording made before there were any",
      recording("", "").replace("0, 0)", "-8640000000000001, 0)"),
      "recordings.created_at",
    ],
    ["a password that takes all memory to check", password("m=4194304,t=2,p=1"), "console_password.hash"],
    ["a password that takes hours to check", password("m=65536,t=4000000,p=1"), "console_password.hash"],
  ];
  test.each(values)("is refused without a change if it has %s", (_, sql, expected) => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const store = openDatabase(directory.databasePath);
    store.$client.run("INSERT INTO versions (version, since) VALUES ('mine', 0)");
    store.$client.close();
    mkdirSync(directory.filesOf(good).work);
    const backup = changed(
      join(parent.path, "backup.db"),
      `PRAGMA foreign_keys = OFF; INSERT INTO accounts (id, name, standing, priority, limits, created_at)
        VALUES ('${account}', 'acme', 'active', 0, '{}', 0); ${sql}`,
    );
    expect(() => restoreDatabase(directory, backup, 0)).toThrow(expected);
    expect(() => restoreDatabase(directory, backup, 0)).toThrow("it was changed by others");
    using kept = new Database(directory.databasePath, { readonly: true });
    expect(kept.query("SELECT version FROM versions ORDER BY position DESC").get()).toEqual({ version: "mine" });
    expect([readdirSync(directory.incoming), existsSync(directory.filesOf(good).work)]).toEqual([[], true]);
  });

  test("is accepted with every limit, every scope and all words that the server writes", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const limits = JSON.stringify(Object.fromEntries(limitNames.map((name) => [name, 7])));
    const words = JSON.stringify([
      [" it''s", 0, 1200, 0.93],
      [" 你好", 1200, 1200, 1],
      [" ja", 1200, 1300, 0.5, false],
    ]);
    const backup = changed(
      join(parent.path, "backup.db"),
      `INSERT INTO accounts (id, name, standing, priority, limits, created_at)
        VALUES ('${account}', 'acme', 'active', 0, '${limits}', 0);
      ${key(JSON.stringify(scopes))}; ${segment(words)}; INSERT INTO segments VALUES ('${good}', 1, 0, 1, 0, 'a', '[]')`,
    );
    expect(restoreDatabase(directory, backup, 0)).toBeNull();
  });

  test("cannot name a file as the model of an open recording", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const done = good.replace(/2$/, "3");
    const at = join(directory.uploads, good);
    const backup = changed(
      join(parent.path, "backup.db"),
      `INSERT INTO accounts (id, name, standing, priority, limits, created_at)
        VALUES ('${account}', 'acme', 'active', 0, '{}', 0);
      ${recording(", speech_model", `, '${at}'`)};
      ${recording(", speech_model", `, '${at}'`, `'${done}'`).replace("queued", "completed")}`,
    );
    restoreDatabase(directory, backup, 0);
    using restored = new Database(directory.databasePath, { readonly: true });
    expect(restored.query("SELECT id, speech_model AS model FROM recordings ORDER BY id").all()).toEqual([
      { id: good, model: null },
      { id: done, model: at },
    ]);
  });

  test("is refused with a virtual table in place of ours, which is not read", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const backup = changed(
      join(parent.path, "backup.db"),
      "DROP TABLE migrations; CREATE VIRTUAL TABLE migrations USING fts5 (position, name, sha256)",
    );
    expect(() => restoreDatabase(directory, backup, 0)).toThrow("no database of transcribe");
  });

  test("is refused with a unique index under a name of SQLite's own", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const backup = changed(join(parent.path, "backup.db"), "CREATE UNIQUE INDEX hidden_of_ours ON recordings (status)");
    // SQLite refuses to create an index of that name but accepts it in a file. Both names have the same length.
    const bytes = readFileSync(backup, "latin1");
    writeFileSync(backup, bytes.replaceAll("hidden_of_ours", "sqlite_of_ours"), "latin1");
    expect(() => restoreDatabase(directory, backup, 0)).toThrow("it was changed by others");
  });

  test("cannot choose a file name by its version", () => {
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

test.each([...releasedVersions])("a backup of %s is accepted", (version) => {
  using parent = temporaryDirectory();
  const directory = new DataDirectory(join(parent.path, "data"));
  const backup = join(parent.path, "backup.db");
  writeReleased(version, backup);
  expect(restoreDatabase(directory, backup, 0)).toBeNull();
});
