import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Upgrade } from "../../src/database/database.ts";
import { openDatabase, type Recording } from "../../src/database/index.ts";
import { authenticate, listKeys } from "../../src/keys/index.ts";
import { finishRemovals, Library } from "../../src/library/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { indexMissing, SearchQuery } from "../../src/search/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { releasedVersions, writeReleased } from "../support/released/index.ts";

const schemaOf = (database: Database) =>
  database
    .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
    .all()
    .map((row) => row.sql);

function contents(database: Database, tables: readonly string[]): Record<string, unknown[]> {
  return Object.fromEntries(tables.map((table) => [table, database.query(`SELECT * FROM ${table}`).all()]));
}

const tablesOf = (database: Database) =>
  database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map((row) => row.name);

test("databases of released versions exist", () => {
  expect(releasedVersions).toEqual(["0.1.0", "0.3.0"]);
});

describe.each([...releasedVersions])("a database that %s wrote", (version) => {
  test("opens with this version's schema, and its copy from before the upgrade is unchanged", () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcribe.db");
    writeReleased(version, path);
    using before = new Database(path, { readonly: true });
    const tables = tablesOf(before);
    const held = contents(before, tables);
    const schemaBefore = schemaOf(before);

    const upgrades: Upgrade[] = [];
    const store = openDatabase(path, (upgrade) => upgrades.push(upgrade));
    expect(schemaOf(store.$client)).toEqual(schemaOf(openDatabase(":memory:").$client));
    expect(store.$client.query("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(upgrades).toEqual([{ fromVersion: version, toVersion: programVersion, backup: expect.any(String) }]);

    using copy = new Database(upgrades[0]?.backup, { readonly: true });
    expect(schemaOf(copy)).toEqual(schemaBefore);
    expect(contents(copy, tables)).toEqual(held);
    store.$client.close();
    expect(
      openDatabase(path, (upgrade) => upgrades.push(upgrade))
        .$client.query("SELECT 1")
        .all(),
    ).toHaveLength(1);
    expect(upgrades).toHaveLength(1);
  });

  test("is copied to a file that only its owner can read", () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcribe.db");
    writeReleased(version, path);
    openDatabase(path).$client.close();
    const backups = join(directory.path, "backups");
    expect(statSync(backups).mode & 0o777).toBe(0o700);
    expect(readdirSync(backups).map((name) => statSync(join(backups, name)).mode & 0o777)).toEqual([0o600]);
  });
});

test("the rows of 0.1.0 are read with their values", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "transcribe.db");
  writeReleased("0.1.0", path);
  const store = openDatabase(path);
  const recordings = new Recordings(store, Date.now);
  const principal = authenticate(store, "trs_LEWtDvWvAvBpfADcrQTcenjgCH4wyU91N1hID3wiOrg3IeoYF", Date.now());
  expect(principal).not.toBeNull();
  expect(listKeys(store, null).map((key) => [key.name, key.revokedAt !== null])).toEqual([
    ["released", false],
    ["old", true],
  ]);
  const [completed] = recordings.list({ statuses: ["completed"] }, 10);
  expect(completed?.endedAt).toBe(completed?.updatedAt ?? 0);
  expect(recordings.list({ statuses: ["queued", "processing"] }, 10).map(({ endedAt }) => endedAt)).toEqual([
    null,
    null,
  ]);
  const transcript = new Transcript(store, completed as Recording);
  // No voice of theirs was compared, so no speaker is marked as uncertain.
  expect(transcript.segments(0, 10).map((each) => [each.speaker, each.text, each.isSpeakerUncertain])).toEqual([
    [0, "Guten Morgen – 你好.", false],
    [1, "It's the second speaker's turn.", false],
  ]);
  expect(recordings.open.counts()).toEqual({ queued: 1, processing: 1 });
  expect(recordings.list({ statuses: ["failed"] }, 10).map((failed) => failed.heldAt !== null)).toEqual([true]);
  expect(new Usage(store).audioSeconds(completed?.accountId ?? "", Date.UTC(2026, 10, 20, 12))).toBeCloseTo(3.2);
});

test("recordings of 0.3.0 in every state are continued, and the one whose removal was interrupted is gone", async () => {
  using directory = temporaryDirectory();
  const dataDirectory = new DataDirectory(directory.path);
  writeReleased("0.3.0", dataDirectory.databasePath);
  const store = openDatabase(dataDirectory.databasePath);
  const recordings = new Recordings(store, Date.now);
  await finishRemovals({ recordings, dataDirectory });
  const usage = new Usage(store);
  const library = new Library({ store, recordings, dataDirectory, usage, now: Date.now });
  await library.transient.withdrawLeft(false);
  const operator = { kind: "operator", actor: "operator" } as const;
  const all = library.list(operator, { includesTransient: true }, 100);
  expect(all.map(({ status, endedAt, updatedAt }) => [status, endedAt === null ? null : endedAt - updatedAt])).toEqual([
    ["failed", 0],
    ["failed", 0],
    ["completed", 0],
    ["processing", null],
    ["queued", null],
    ["queued", null],
  ]);
  const completed = all.find(({ status }) => status === "completed");
  const transcript = library.transcript(operator, completed?.id ?? "");
  expect(transcript.segments(0, 10).map(({ text }) => text)).toEqual([
    "Guten Morgen – 你好.",
    "It's the second speaker's turn.",
  ]);
  expect([...transcript.speakerNames()]).toEqual([[1, "Anna"]]);
  expect(store.$client.query("SELECT count(*) AS n FROM segments").get()).toEqual({ n: 2 });
  // The search index is filled again, with other words.
  store.$client.run("UPDATE segments SET text = replace(text, 'Guten', '학교에서 đường')");
  const search = async (q: string) => (await library.search(operator, new SearchQuery(q), {}, null, 10)).found.length;
  expect(await search("morgen")).toBe(0);
  for (const start of [1, 2]) {
    await indexMissing(store, new AbortController().signal);
    const counts = await Promise.all(["학교", "duong", "morgen", "你好", "second speaker", "talk"].map(search));
    expect([start, counts]).toEqual([start, [1, 1, 1, 1, 1, 3]]);
  }
  recordings.requeueAll();
  for (const { id, status } of all)
    if (status !== "completed" && status !== "failed") expect(recordings.claim(id)).not.toBeNull();
  store.$client.close();
});
