import { expect, test } from "bun:test";
import { audit, readAudit, trimAuditLog } from "../../src/accounts/index.ts";
import { openDatabase, type Store, tables } from "../../src/database/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";

const DAY = 86_400_000;
const start = Date.UTC(2026, 0, 1);

/** Returns a log with one entry a day, of which the first is on day 1 and has the id 1. */
function logOf(days: number): Store {
  const store = openDatabase(":memory:");
  for (let day = 1; day <= days; day++) add(store, day);
  return store;
}

const add = (store: Store, day: number) =>
  audit(store, { actor: "anna", now: start + day * DAY }, "keys.create", `key ${day}`, {});
const trim = (store: Store, day: number, kept: number, through: number | null = null) =>
  trimAuditLog(store, start + day * DAY + 1, kept, through);
const shown = (store: Store) => readAudit(store, 10_000).map(({ id, action }) => `${id} ${action}`);

test("entries that are older than the log must have are removed, and an entry records it", async () => {
  const store = logOf(5);
  await trim(store, 5, 2);
  expect(shown(store)).toEqual(["6 audit_log.trim", "5 keys.create", "4 keys.create"]);
  expect(readAudit(store, 1)).toMatchObject([
    { actor: "server", subject: "1", details: '{"before":"2026-01-04T00:00:00.001Z"}' },
  ]);
});

test("nothing is removed on a day on which entries were removed before", async () => {
  const store = logOf(5);
  await trim(store, 5, 2);
  const after = shown(store);
  await trim(store, 5.9, 2);
  expect(shown(store)).toEqual(after);
  add(store, 7);
  await trim(store, 7, 2);
  expect(shown(store)).toEqual(["8 audit_log.trim", "7 keys.create", "6 audit_log.trim"]);
});

test.each([
  ["none", 0, [1, 2, 3, 4, 5]],
  ["some", 2, [3, 4, 5]],
  ["all", 5, []],
])("of entries of which a receiver has confirmed %s, only these are removed", async (_, confirmed, left) => {
  const store = logOf(5);
  await trim(store, 50, 2, confirmed);
  const ids = readAudit(store, 10).flatMap(({ id, action }) => (action === "audit_log.trim" ? [] : [id]));
  expect(ids.reverse()).toEqual(left);
});

test("no number is used again when all entries are old", async () => {
  const store = logOf(3);
  await trim(store, 100, 1);
  expect(shown(store)).toEqual(["4 audit_log.trim"]);
  await trim(store, 300, 1);
  expect(shown(store)).toEqual(["5 audit_log.trim"]);
  add(store, 301);
  expect(shown(store)).toEqual(["6 keys.create", "5 audit_log.trim"]);
});

test("entries behind one that is not old stay, so that the numbers have no gaps", async () => {
  const store = logOf(2);
  add(store, 90);
  for (let day = 3; day <= 5; day++) add(store, day);
  await trim(store, 91, 30);
  expect(shown(store)).toEqual([
    "7 audit_log.trim",
    "6 keys.create",
    "5 keys.create",
    "4 keys.create",
    "3 keys.create",
  ]);
});

test("the entries of years are removed in batches, between which others may write", async () => {
  const store = openDatabase(":memory:");
  const entry = { actor: "anna", action: "transcripts.view", subject: "x", details: "{}" };
  store
    .insert(tables.auditLog)
    .values(Array.from({ length: 2_600 }, (_, number) => ({ ...entry, at: start + number })))
    .run();
  const turns = await countTurnsUntilSettled(trim(store, 100, 30), () => add(store, 100));
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(new Set(readAudit(store, 10_000).map(({ action }) => action))).toEqual(
    new Set(["keys.create", "audit_log.trim"]),
  );
});
