import { expect, test } from "bun:test";
import { createAccount } from "../../../src/accounts/index.ts";
import { openDatabase, type Store, tables } from "../../../src/database/index.ts";
import { contextOf, runCheck } from "./support.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
type Values = Partial<typeof tables.folders.$inferInsert>;
const server = { pid: 1, version: "0.3.0", origin: "http://127.0.0.1:1", modelSetting: "", certificate: null };

function withFolder(values: Values): Store {
  const store = openDatabase(":memory:");
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now });
  const folder = { id: Bun.randomUUIDv7(), accountId, path: "/srv/in", formats: '["srt"]', createdAt: now };
  store
    .insert(tables.folders)
    .values({ ...folder, seenAt: now - MINUTE, ...values })
    .run();
  return store;
}

test.each<[string, Values, string, RegExp]>([
  ["watches its folder", { waiting: 2 }, "ok", /^1 folder, 2 waiting and 0 in progress$/],
  ["has incomplete files", { waiting: 2, incomplete: '[{"name":"a","doubt":"zeros"}]' }, "ok", /\(1 of which seem inc/],
  ["waits for a limit", { hindrance: "audio", hinderedSince: now - DAY }, "ok", /1 folder/],
  ["has waited for a limit for days", { hindrance: "creates", hinderedSince: now - 3 * DAY }, "warning", /1 watched/],
  ["lacks the marker of a folder", { hindrance: "unmarked", hinderedSince: now }, "problem", /1 watched folder waits/],
  ["has not visited a folder for long", { seenAt: now - 20 * MINUTE }, "problem", /1 watched folder waits/],
  ["has just started", { seenAt: null }, "ok", /1 folder/],
])("the check of folders reports a server that %s", async (_, values, status, summary) => {
  const finding = await runCheck("folders.watched", contextOf({}, { database: withFolder(values), server }));
  expect(finding).toMatchObject({ status, summary: expect.stringMatching(summary) });
  if (status === "ok") return;
  expect(finding.detail).toEqual([expect.stringContaining("/srv/in: ")]);
  expect(finding.advice).toEndWith(".");
});

test("the check of folders is skipped without a database, without folders and for an earlier version", async () => {
  const empty = openDatabase(":memory:");
  const earlier = openDatabase(":memory:");
  earlier.$client.run("DROP TABLE folder_files; DROP TABLE folders");
  for (const database of [null, empty, earlier]) {
    expect(await runCheck("folders.watched", contextOf({}, { database }))).toMatchObject({ status: "skipped" });
  }
});
