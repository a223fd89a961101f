import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { programCommand } from "../../harness/program.ts";
import { runCli } from "../../harness/server.ts";
import { canMount, withSmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { writeReleased } from "../support/released/index.ts";
import { Commands, maybe, shape } from "./support.ts";

// Each command is a separate process, which starts slowly on a busy machine.
setDefaultTimeout(60_000);

const facts = {
  version: Type.String(),
  bytes: Type.Integer(),
  accounts: Type.Integer(),
  recordings: Type.Integer(),
  open: Type.Integer(),
};
const sizes = shape({ files: Type.Integer(), bytes: Type.Integer() });
const backupShape = shape({ file: Type.String(), ...facts, uploads: sizes });
const restoreShape = shape({
  database: Type.String(),
  ...facts,
  uploads: Type.Integer(),
  replaced: maybe(Type.String()),
});

/** Creates a data directory with the rows of 0.1.0 in the current schema. */
function filled(path: string): DataDirectory {
  const directory = new DataDirectory(join(path, "data"));
  writeReleased("0.1.0", directory.databasePath);
  openDatabase(directory.databasePath).$client.close();
  return directory;
}

const accountNames = (store: Store) =>
  store.$client
    .query<{ name: string }, []>("SELECT name FROM accounts ORDER BY name")
    .all()
    .map((row) => row.name);

describe("transcribe backup", () => {
  test("copies the database during writes, readable only by its owner, and without recordings with --database-only", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const unlock = directory.lock();
    const store = openDatabase(directory.databasePath);
    // Only in the write-ahead log, so a copy of the file would not have it.
    store.$client.run("UPDATE accounts SET name = 'renamed'");
    writeFileSync(directory.localAudio.pathOf("01a1fdbb-a5b1-7058-8ea9-0c142185cff2"), "12345");
    const target = join(parent.path, "copy.db");
    const result = await new Commands(directory.root, runCli).json(backupShape, "backup", "--database-only", target);
    expect(result).toMatchObject({ file: target, accounts: 1, recordings: 4, open: 2 });
    expect(result.uploads).toEqual({ files: 0, bytes: 0 });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(accountNames(openDatabase(target))).toEqual(["renamed"]);
    unlock();
  });

  test("contains no deleted data", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const store = openDatabase(directory.databasePath);
    const target = join(parent.path, "copy.db");
    await new Commands(directory.root, runCli).json(backupShape, "backup", "--database-only", target);
    expect(readFileSync(target).includes("second speaker")).toBe(true);
    store.$client.run("DELETE FROM recordings");
    const later = join(parent.path, "later.db");
    await new Commands(directory.root, runCli).json(backupShape, "backup", "--database-only", later);
    expect(readFileSync(later).includes("second speaker")).toBe(false);
  });

  test("creates a new name in backups/ by default", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const { file } = await new Commands(directory.root, runCli).json(backupShape, "backup", "--database-only");
    expect(file).toStartWith(join(directory.root, "backups/backup-"));
    expect(accountNames(openDatabase(file))).toEqual(["acme"]);
  });

  test("refuses impossible targets, and leaves no partial file", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const commands = new Commands(directory.root, runCli);
    const taken = join(parent.path, "taken");
    writeFileSync(taken, "mine");
    expect(await commands.refusal("backup", taken)).toContain("exists already");
    expect(readFileSync(taken, "utf8")).toBe("mine");
    expect(await commands.refusal("backup", join(parent.path, "no/such/folder.db"))).toContain("no/such");
    const elsewhere = join(parent.path, "elsewhere");
    expect(await new Commands(elsewhere, runCli).refusal("backup")).toContain("--data-dir");
    expect(existsSync(elsewhere)).toBe(false);
    for (const damage of ["damaged".repeat(1000), ""]) {
      writeFileSync(directory.databasePath, damage);
      expect(await commands.refusal("backup")).toContain("is damaged, or no database");
    }
    expect(readdirSync(join(directory.root, "backups")).filter((name) => name.startsWith("backup-"))).toEqual([]);
  });

  test.skipIf(!canMount)("leaves nothing on a full disk, and reports it", () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    withSmallDisk("64k", (disk) => {
      const run = Bun.spawnSync(programCommand("backup", join(disk, "copy.db"), "--data-dir", directory.root));
      expect([run.exitCode, run.stdout.toString()]).toEqual([1, ""]);
      expect(run.stderr.toString()).toMatch(/^transcribe: .*the disk is full.*\n$/);
      expect(readdirSync(disk)).toEqual([]);
    });
  });
});

test.skipIf(!canMount)("a command reports a full disk without a stack", () => {
  withSmallDisk("600k", (disk) => {
    const root = join(disk, "data");
    const run = (...args: string[]) => {
      const { exitCode, stderr } = Bun.spawnSync(programCommand(...args));
      return [exitCode, stderr.toString()];
    };
    expect(run("accounts", "create", "one", "--data-dir", root)).toEqual([0, expect.any(String)]);
    for (const size of [50_000, 4096, 1]) fill(join(disk, `ballast-${size}`), size);
    expect(run("accounts", "create", "two", "--data-dir", root)).toEqual([
      1,
      expect.stringMatching(/^transcribe: .*disk is full.*transcribe doctor\n$/),
    ]);
  });
});

/** Writes chunks of this size until the disk is full. */
function fill(path: string, size: number): void {
  const file = openSync(path, "w");
  try {
    for (;;) if (writeSync(file, Buffer.alloc(size)) < size) return;
  } catch {
    // The disk is full, as intended.
  } finally {
    closeSync(file);
  }
}

describe("transcribe restore", () => {
  test("restores the content of the backup and stores the previous database", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const commands = new Commands(directory.root, runCli);
    const store = openDatabase(directory.databasePath);
    store.$client.run("INSERT INTO segments SELECT id, 1000, 0, 1, 0, 'Some of many.', '[]', 0 FROM recordings");
    const { file } = await commands.json(backupShape, "backup", "--database-only");
    store.$client.run("UPDATE accounts SET name = 'later'");
    store.$client.close();
    mkdirSync(directory.filesOf("01a1fdbb-a5b1-7058-8ea9-0c142185cff2").work);
    const restored = await commands.json(restoreShape, "restore", "--replace", file);
    expect(restored).toMatchObject({ database: directory.databasePath, recordings: 4, open: 2 });
    expect(accountNames(openDatabase(directory.databasePath))).toEqual(["acme"]);
    expect(accountNames(openDatabase(restored.replaced ?? ""))).toEqual(["later"]);
    expect(statSync(directory.databasePath).mode & 0o777).toBe(0o600);
    expect(statSync(restored.replaced ?? "").mode & 0o077).toBe(0);
    // Its open recordings start again, because files of their checkpoints may be missing on this disk.
    expect(readdirSync(join(directory.root, "work"))).toEqual([]);
    const { $client } = openDatabase(directory.databasePath);
    expect($client.query("SELECT count(*) AS rows FROM checkpoints").get()).toEqual({ rows: 0 });
    // Stored results of an unfinished recording are removed, too.
    expect(
      $client.query("SELECT DISTINCT status FROM segments JOIN recordings ON recordings.id = recording_id").all(),
    ).toEqual([{ status: "completed" }]);
  });

  test("restores a backup of an earlier version, which the next start upgrades", async () => {
    using parent = temporaryDirectory();
    const directory = new DataDirectory(join(parent.path, "data"));
    const backup = join(parent.path, "0.1.0.db");
    writeReleased("0.1.0", backup);
    const restored = await new Commands(directory.root, runCli).json(restoreShape, "restore", backup);
    expect(restored).toMatchObject({ version: "0.1.0", replaced: null });
    expect(accountNames(openDatabase(directory.databasePath))).toEqual(["acme"]);
  });

  test("replaces a damaged database without mixing its write-ahead log into the new one", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const commands = new Commands(directory.root, runCli);
    const { file } = await commands.json(backupShape, "backup", "--database-only");
    writeFileSync(directory.databasePath, "damaged".repeat(1000));
    writeFileSync(`${directory.databasePath}-wal`, "a log of its own");
    const { replaced } = await commands.json(restoreShape, "restore", "--replace", file);
    expect(readFileSync(replaced ?? "", "utf8")).toStartWith("damaged");
    expect(existsSync(`${directory.databasePath}-wal`)).toBe(false);
    expect(accountNames(openDatabase(directory.databasePath))).toEqual(["acme"]);
  });

  test("leaves either database complete when it is killed", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const store = openDatabase(directory.databasePath);
    // Large enough that the kill interrupts the work.
    store.$client.run("CREATE TABLE ballast AS SELECT randomblob(4000000) AS bytes");
    store.$client.close();
    const { file } = await new Commands(directory.root, runCli).json(backupShape, "backup", "--database-only");
    for (const delay of [50, 120, 160, 200, 240, 300, 500]) {
      const live = openDatabase(directory.databasePath);
      live.$client.run("UPDATE accounts SET name = 'live'");
      live.$client.close();
      const restore = Bun.spawn(programCommand("restore", "--replace", file, "--data-dir", directory.root), {
        stdout: "ignore",
        stderr: "ignore",
      });
      await Bun.sleep(delay);
      restore.kill("SIGKILL");
      await restore.exited;
      using left = new Database(directory.databasePath, { readwrite: true });
      expect(left.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
      expect(["live", "acme"]).toContain(
        left.query<{ name: string }, []>("SELECT name FROM accounts").get()?.name ?? "",
      );
      for (const name of readdirSync(join(directory.root, "backups")).filter((each) => each.endsWith(".db"))) {
        using kept = new Database(join(directory.root, "backups", name), { readonly: true });
        expect([name, kept.query("PRAGMA integrity_check").get()]).toEqual([name, { integrity_check: "ok" }]);
      }
    }
  });

  test("does not change the database when it fails", async () => {
    using parent = temporaryDirectory();
    const directory = filled(parent.path);
    const commands = new Commands(directory.root, runCli);
    const { file } = await commands.json(backupShape, "backup", "--database-only");
    const damaged = join(parent.path, "damaged.db");
    copyFileSync(file, damaged);
    const bytes = readFileSync(damaged);
    bytes.fill(0xa5, 8192, 24_576);
    writeFileSync(damaged, bytes);
    const empty = join(parent.path, "empty.db");
    new Database(empty).run("CREATE TABLE a (x)");
    const newer = join(parent.path, "newer.db");
    copyFileSync(file, newer);
    chmodSync(newer, 0o600);
    const later = new Database(newer);
    later.run("INSERT INTO migrations VALUES (999, '0999-future', 'ff')");
    later.run("INSERT INTO versions (version, since) VALUES ('99.1.0', 0)");
    later.close();
    const refusals: [string, string][] = [
      [join(parent.path, "nowhere.db"), "there is no file"],
      [parent.path, "there is no file"],
      [damaged, "damaged"],
      [empty, "no database of transcribe"],
      [newer, "99.1.0"],
      [join(import.meta.dir, "support.ts"), "can't be read"],
    ];
    const before = readFileSync(directory.databasePath);
    for (const [from, why] of refusals) expect(await commands.refusal("restore", "--replace", from)).toContain(why);
    const unlock = directory.lock();
    expect(await commands.refusal("restore", "--replace", file)).toContain("a server uses");
    unlock();
    expect(readFileSync(directory.databasePath).equals(before)).toBe(true);
    expect(readdirSync(directory.incoming)).toEqual([]);
    expect(readdirSync(join(directory.root, "backups")).filter((name) => name.startsWith("replaced-"))).toEqual([]);
  });
});
