import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { prepareStandby } from "../../src/replication/index.ts";
import { DataPaths, readStandbyMarker, writeStandbyMarker } from "../../src/storage/index.ts";
import { FollowedDirectory } from "./followed-directory.ts";

test("a standby gets a copy of the database, and each transaction after it", async () => {
  await using pair = new FollowedDirectory();
  pair.write("before");
  pair.connect();
  await pair.confirmed();
  expect(pair.notes()).toEqual(["before"]);
  pair.write("after");
  await pair.confirmed();
  expect(pair.notes()).toEqual(["before", "after"]);
  const { server, standby } = await pair.files();
  expect(standby.equals(server)).toBe(true);
});

test("a standby that was away continues where it was, without another copy of the database", async () => {
  await using pair = new FollowedDirectory();
  pair.write(new Uint8Array(2_000_000));
  pair.connect();
  await pair.confirmed();
  await pair.disconnect();
  pair.sentBytes = 0;
  for (const text of ["one", "two"]) pair.write(text);
  pair.connect();
  await pair.confirmed();
  expect(pair.notes()).toEqual(["2000000 bytes", "one", "two"]);
  expect(pair.sentBytes).toBeLessThan(100_000);
});

test("the log starts again while a standby follows, and while it is away, and the standby continues", async () => {
  await using pair = new FollowedDirectory();
  pair.connect();
  const expected: string[] = [];
  for (let round = 0; round < 4; round++) {
    pair.write(`${round}`);
    expected.push(`${round}`);
    await pair.confirmed();
    expect(await pair.source.emptyLog()).toBe(true);
    expect(statSync(`${pair.server.databasePath}-wal`).size).toBe(0);
    if (round % 2 === 1) continue;
    await pair.disconnect();
    pair.sentBytes = 0;
    pair.write("away");
    expected.push("away");
    pair.connect();
    await pair.confirmed();
    expect(pair.sentBytes).toBeLessThan(60_000);
  }
  expect(pair.notes()).toEqual(expected);
});

test("a server that is restarted lets its standby continue, without another copy of the database", async () => {
  await using pair = new FollowedDirectory();
  pair.source.hold();
  pair.write(new Uint8Array(2_000_000));
  pair.connect();
  await pair.confirmed();
  for (const text of ["one", "two"]) {
    await pair.restart();
    pair.write(text);
    pair.sentBytes = 0;
    pair.connect();
    await pair.confirmed();
    expect(pair.sentBytes).toBeLessThan(100_000);
  }
  // Also if nothing was written, and if the standby was away.
  await pair.restart();
  await pair.restart();
  pair.write("three");
  pair.sentBytes = 0;
  pair.connect();
  await pair.confirmed();
  expect(pair.sentBytes).toBeLessThan(100_000);
  expect(pair.notes()).toEqual(["2000000 bytes", "one", "two", "three"]);
  const { server, standby } = await pair.files();
  expect(standby.equals(server)).toBe(true);
});

test("whatever changes the database while the server is stopped, or in any order with it, is on the standby", async () => {
  await using pair = new FollowedDirectory();
  pair.source.hold();
  const random = randomNumbers(11);
  const expected: string[] = [];
  const write = (text: string) => {
    expected.push(text);
    using command = new Database(pair.server.databasePath);
    command.run("INSERT INTO notes (text) VALUES (?)", [text]);
  };
  let isConnected = false;
  for (let round = 0; round < 80; round++) {
    const step = random(6);
    if (step === 0) {
      await pair.restart(() => random(2) === 0 && write(`${round} stopped`));
      isConnected = false;
    } else if (step === 1 && isConnected) {
      await pair.disconnect();
      isConnected = false;
    } else if (step === 2 && isConnected) await pair.source.emptyLog();
    else if (step === 3 || isConnected) write(`${round}`);
    else {
      pair.connect();
      await pair.confirmed();
      isConnected = true;
      expect(pair.notes()).toEqual(expected);
    }
  }
  if (!isConnected) pair.connect();
  const { server, standby } = await pair.files();
  expect(pair.notes()).toEqual(expected);
  expect(standby.equals(server)).toBe(true);
}, 30_000);

test("nobody else can start the log again before a standby has what is in it", async () => {
  await using pair = new FollowedDirectory();
  pair.connect();
  await pair.confirmed();
  await pair.disconnect();
  using other = new Database(pair.server.databasePath);
  const logs = new Set<string>();
  for (let round = 0; round < 10; round++) {
    // SQLite itself would start it again after a thousand pages.
    for (let count = 0; count < 10; count++) pair.write(new Uint8Array(80_000));
    other.run("PRAGMA wal_checkpoint(TRUNCATE)");
    logs.add(readFileSync(`${pair.server.databasePath}-wal`).toString("hex", 16, 24));
  }
  expect(logs.size).toBe(1);
  pair.connect();
  await pair.confirmed();
  expect(pair.notes()).toHaveLength(100);
});

test("a standby that stays away, or a log that has grown to its limit, does not keep the log from its restart", async () => {
  await using pair = new FollowedDirectory();
  pair.connect();
  await pair.confirmed();
  await pair.disconnect();
  pair.maxLogBytes = 2 ** 20;
  const log = `${pair.server.databasePath}-wal`;
  for (let count = 0; count < 20; count++) pair.write(new Uint8Array(80_000));
  expect(statSync(log).size).toBeGreaterThan(2 ** 20);
  while (pair.source.isHolding) await Bun.sleep(20);
  using other = new Database(pair.server.databasePath);
  expect(other.query("PRAGMA wal_checkpoint(TRUNCATE)").get()).toEqual({ busy: 0, log: 0, checkpointed: 0 });
  // Its place in the log is gone, so it gets what has changed in the database.
  pair.write("later");
  pair.connect();
  await pair.confirmed();
  expect(pair.notes().at(-1)).toBe("later");
  await pair.disconnect();
  pair.ahead = 11 * 60_000;
  while (pair.source.isHolding) await Bun.sleep(20);
});

test("a new copy of the database has only what differs", async () => {
  await using pair = new FollowedDirectory();
  pair.write(crypto.getRandomValues(new Uint8Array(60_000)));
  for (let count = 0; count < 60; count++) pair.write(crypto.getRandomValues(new Uint8Array(60_000)));
  pair.connect();
  const before = await pair.files();
  await pair.disconnect();
  // As after a crash of the standby's machine, which has lost its log.
  writeFileSync(`${pair.standby.state}/standby-log-end.json`, "");
  pair.write("one more");
  pair.sentBytes = 0;
  pair.connect();
  await pair.confirmed();
  expect(before.server.length).toBeGreaterThan(3_000_000);
  expect(pair.sentBytes).toBeLessThan(500_000);
  expect(pair.notes().at(-1)).toBe("one more");
});

test("a copy that another program has changed is compared with the server's database again", async () => {
  await using pair = new FollowedDirectory();
  pair.write("one");
  pair.connect();
  await pair.confirmed();
  expect(await pair.source.emptyLog()).toBe(true);
  await pair.disconnect();
  const copy = new Database(pair.standby.databasePath);
  copy.run("CREATE TABLE foreign_table (text TEXT)");
  copy.close();
  pair.write("two");
  pair.connect();
  await pair.confirmed();
  expect(pair.notes()).toEqual(["one", "two"]);
  const { server, standby } = await pair.files();
  expect(standby.equals(server)).toBe(true);
});

test("a copy whose promotion was interrupted is not continued, unless it is replaced", () => {
  using directory = temporaryDirectory();
  const paths = new DataPaths(directory.path);
  const from = "tls://127.0.0.1:8788";
  prepareStandby(paths, { from, replace: false }, 1);
  const marker = { from, since: 1, appliedAt: 2, complete: true, database: "0".repeat(32) };
  writeStandbyMarker(paths, marker);
  const end = join(paths.state, "standby-log-end.json");
  writeFileSync(end, "{}");
  prepareStandby(paths, { from, replace: false }, 3);
  expect([readStandbyMarker(paths), existsSync(end)]).toEqual([marker, true]);
  writeStandbyMarker(paths, { ...marker, promoting: true });
  expect(() => prepareStandby(paths, { from, replace: false }, 4)).toThrow("repeat transcribe promote");
  prepareStandby(paths, { from, replace: true }, 4);
  expect(readStandbyMarker(paths)).toEqual({ from, since: 4, appliedAt: null, complete: false, database: null });
  expect(existsSync(end)).toBe(false);
});

test("a copy whose connection breaks anywhere is a whole database with everything that was confirmed", async () => {
  await using pair = new FollowedDirectory();
  pair.write("first");
  pair.connect();
  await pair.confirmed();
  await pair.disconnect();
  let confirmed = 1;
  let written = 1;
  const random = randomNumbers(7);
  for (let round = 0; round < 60; round++) {
    pair.connect(random(120_000));
    const isCut = pair.ended().then(() => true);
    for (let count = random(5); count > 0; count--) {
      pair.write(new Uint8Array(random(40_000)));
      written += 1;
      const now = written;
      if (await Promise.race([pair.source.confirmation(), isCut.then(() => false)])) confirmed = now;
    }
    if (random(3) === 0) await Promise.race([pair.source.emptyLog(), isCut]);
    await pair.disconnect();
    if (random(4) === 0) writeFileSync(`${pair.standby.state}/standby-log-end.json`, "");
    const notes = pair.notes();
    expect(notes.length).toBeGreaterThanOrEqual(confirmed);
    expect(notes.length).toBeLessThanOrEqual(written);
  }
  pair.connect();
  await pair.confirmed();
  expect(pair.notes()).toHaveLength(written);
  const { server, standby } = await pair.files();
  expect(standby.equals(server)).toBe(true);
});

/** Returns a function that returns integers from 0 to below its argument, in an order that looks random. */
function randomNumbers(seed: number): (below: number) => number {
  let last = seed;
  return (below) => {
    last = (last * 1_103_515_245 + 12_345) % 2 ** 31;
    return last % below;
  };
}
