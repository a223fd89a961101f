import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { deferSync, openDatabase, type Store, truncateLog } from "../../src/database/index.ts";
import { waitForDisk } from "../support/preload.ts";

/** Values of PRAGMA synchronous. */
const [normal, full] = [1, 2];

const waitsOf = ({ $client }: Store) =>
  $client.query<{ synchronous: number }, []>("PRAGMA synchronous").get()?.synchronous;
const insert = (store: Store, name: string) =>
  store.$client.run("INSERT INTO chosen_models (kind, model, chosen_at) VALUES (?, 'm', 1)", [name]);
const kinds = (database: Database) => database.query("SELECT kind FROM chosen_models ORDER BY kind").values().flat();

test("a write with a deferred sync is visible at once, and later writes wait for the disk again even if it failed", () => {
  using _ = waitForDisk();
  using directory = temporaryDirectory();
  const path = join(directory.path, "transcribe.db");
  const store = openDatabase(path);
  expect(waitsOf(store)).toBe(full);
  const during = deferSync(store, () => {
    insert(store, "a");
    return waitsOf(store);
  });
  expect([during, waitsOf(store)]).toEqual([normal, full]);
  expect(() => deferSync(store, () => insert(store, "a"))).toThrow("UNIQUE");
  expect(waitsOf(store)).toBe(full);
  const other = new Database(path, { readonly: true });
  expect(kinds(other)).toEqual(["a"]);
  other.close();
  store.$client.close();
});

test("a write with a deferred sync inside a transaction is committed with the transaction", () => {
  using _ = waitForDisk();
  const store = openDatabase(":memory:");
  const both = () =>
    store.transaction(() => {
      insert(store, "a");
      expect(deferSync(store, () => waitsOf(store))).toBe(full);
      deferSync(store, () => insert(store, "b"));
      throw new Error("taken back");
    });
  expect(both).toThrow("taken back");
  expect(kinds(store.$client)).toEqual([]);
});

test("emptying the log waits for a reader, and returns whether it succeeded", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "transcribe.db");
  const store = openDatabase(path);
  insert(store, "zebra");
  const logHolds = () => readFileSync(`${path}-wal`).includes("zebra");
  const reader = new Database(path, { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM chosen_models").get();
  const waiting = truncateLog(store);
  expect(logHolds()).toBe(true);
  reader.run("COMMIT");
  expect([await waiting, logHolds()]).toEqual([true, false]);
  insert(store, "another zebra");
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM chosen_models").get();
  expect([await truncateLog(store), logHolds()]).toEqual([false, true]);
  reader.close();
  expect([await truncateLog(store), logHolds()]).toEqual([true, false]);
  store.$client.close();
}, 30_000);
