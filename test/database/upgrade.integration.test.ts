import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canMount, withSmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { MigrationError, openDatabase, openDatabaseOf } from "../../src/database/index.ts";
import { DataDirectory, newBackupPath, pruneUpgradeBackups } from "../../src/storage/index.ts";
import { writeReleased } from "../support/released/index.ts";

setDefaultTimeout(60_000);

/** Makes a database look like one of a later version. */
function makeNewer(path: string): void {
  openDatabase(path).$client.close();
  using database = new Database(path, { readwrite: true });
  database.run("INSERT INTO migrations VALUES (999, '0999-future', 'ff')");
  database.run("INSERT INTO versions (version, since) VALUES ('99.1.0', 0)");
}

const migrationsIn = (path: string) => {
  using database = new Database(path, { readonly: true });
  return database.query("SELECT name FROM migrations").all();
};

describe("a database of a newer version", () => {
  test("is refused with the version that wrote it, and with the backup to go back to", () => {
    using parent = temporaryDirectory();
    const path = join(parent.path, "transcribe.db");
    makeNewer(path);
    const before = migrationsIn(path);
    expect(() => openDatabase(path)).toThrow(MigrationError);
    expect(() => openDatabase(path)).toThrow("99.1.0");
    expect(() => openDatabase(path)).toThrow("transcribe restore --replace FILE");
    const older = newBackupPath(path, "transcribe", "0.1.0", Date.UTC(2026, 0, 1));
    writeReleased("0.1.0", older);
    const newer = newBackupPath(path, "transcribe", "99.0.0", Date.UTC(2026, 0, 2));
    makeNewer(newer);
    expect(() => openDatabase(path)).toThrow(`transcribe restore --replace ${older} --data-dir ${parent.path}`);
    expect(() => openDatabaseOf(new DataDirectory(parent.path))).toThrow(`transcribe restore --replace ${older}`);
    expect(migrationsIn(path)).toEqual(before);
  });
});

describe("a command that meets an older database", () => {
  test("does not change it while a server of that version runs, and reports that server", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(parent.path);
    writeReleased("0.1.0", directory.databasePath);
    const unlock = directory.lock();
    expect(() => openDatabaseOf(directory)).toThrow(/server of an earlier version, 0\.1\.0, .*restart it/);
    expect(migrationsIn(directory.databasePath)).toHaveLength(1);
    expect(existsSync(join(parent.path, "backups"))).toBe(false);
    unlock();
    const upgraded: string[] = [];
    openDatabaseOf(directory, ({ fromVersion }) => upgraded.push(fromVersion)).$client.close();
    expect(upgraded).toEqual(["0.1.0"]);
    // The lock was released: a server can start.
    directory.lock()();
  });

  test("opens a current database while the server runs", () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(parent.path);
    openDatabase(directory.databasePath).$client.close();
    const unlock = directory.lock();
    expect(openDatabaseOf(directory).$client.query("SELECT count(*) AS rows FROM versions").all()).toEqual([
      { rows: 1 },
    ]);
    unlock();
  });
});

describe("an upgrade", () => {
  test("by two processes at once makes one upgraded database and one copy", async () => {
    using parent = temporaryDirectory();
    const path = join(parent.path, "transcribe.db");
    writeReleased("0.1.0", path);
    const script = join(parent.path, "open.ts");
    const storage = JSON.stringify(join(import.meta.dir, "../../src/database/index.ts"));
    await Bun.write(script, `(await import(${storage})).openDatabase(process.argv[2] ?? "").$client.close();`);
    const runs = [1, 2, 3].map(() => Bun.spawn([process.execPath, script, path], { stdout: "inherit" }).exited);
    expect(await Promise.all(runs)).toEqual([0, 0, 0]);
    expect(readdirSync(join(parent.path, "backups"))).toHaveLength(1);
    expect(openDatabase(path).$client.query("SELECT count(*) AS rows FROM versions").all()).toEqual([{ rows: 1 }]);
  });

  test("of a file that is no database reports how to restore a backup", () => {
    using parent = temporaryDirectory();
    const path = join(parent.path, "transcribe.db");
    writeFileSync(path, "this is no database, and long enough not to be taken for an empty one".repeat(20));
    expect(() => openDatabase(path)).toThrow("transcribe restore --replace FILE");
    expect(() => openDatabaseOf(new DataDirectory(parent.path))).toThrow("transcribe restore --replace FILE");
  });

  test.skipIf(!canMount)("does not begin without room for the copy, and says how much it takes", () => {
    withSmallDisk("400k", (path) => {
      const database = join(path, "transcribe.db");
      writeReleased("0.1.0", database);
      writeFileSync(join(path, "ballast"), Buffer.alloc(200_000));
      expect(() => openDatabase(database)).toThrow(/disk is full; it takes up to \d+ KB .*Nothing was changed/);
      expect(migrationsIn(database)).toHaveLength(1);
      expect(readdirSync(join(path, "backups"))).toEqual([]);
    });
  });
});

describe("copies from before upgrades", () => {
  test("are removed when three later ones exist or when they are too old; other copies stay", () => {
    using parent = temporaryDirectory();
    const directory = join(parent.path, "backups");
    mkdirSync(directory);
    const old = new Date("2020-01-01");
    const upgrades = ["1.9.0-20260101T000000000Z", "1.10.0-20260201T000000000Z", "1.2.0-20260301T000000000Z"];
    for (const name of upgrades) writeFileSync(join(directory, `transcribe-${name}.db`), "");
    const others = [
      "backup-1.9.0-20200101T000000000Z.db",
      "replaced-1.9.0-20200101T000000000Z.db",
      "transcribe-mine.db",
    ];
    for (const name of others) {
      writeFileSync(join(directory, name), "");
      utimesSync(join(directory, name), old, old);
    }
    const left = () => readdirSync(directory).filter((name) => !others.includes(name));
    const now = Date.now();
    const databasePath = join(parent.path, "transcribe.db");
    pruneUpgradeBackups(databasePath, now);
    expect(left()).toHaveLength(3);
    writeFileSync(join(directory, "transcribe-1.2.1-20260401T000000000Z.db"), "");
    pruneUpgradeBackups(databasePath, now);
    expect(left().some((name) => name.startsWith("transcribe-1.9.0-"))).toBe(false);
    expect(left()).toHaveLength(3);
    utimesSync(join(directory, "transcribe-1.10.0-20260201T000000000Z.db"), old, old);
    const halfDone = ["transcribe-1.3.0-20260501T000000000Z.db.partial", "backup-x.db.partial"];
    for (const name of halfDone) writeFileSync(join(directory, name), "");
    utimesSync(join(directory, "backup-x.db.partial"), old, old);
    pruneUpgradeBackups(databasePath, now, 14);
    expect(left().sort()).toEqual([
      "transcribe-1.2.0-20260301T000000000Z.db",
      "transcribe-1.2.1-20260401T000000000Z.db",
      "transcribe-1.3.0-20260501T000000000Z.db.partial",
    ]);
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(others));
  });
});
