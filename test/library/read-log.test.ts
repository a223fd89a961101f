import { expect, test } from "bun:test";
import { desc } from "drizzle-orm";
import { type Store, tables } from "../../src/database/index.ts";
import { ReadLog } from "../../src/library/read-log.ts";
import { Shelf } from "../support/shelf.ts";

const reader = { actor: "user:1", surface: "console" } as const;
const MINUTE = 60_000;

/** Returns the recorded reads, the oldest first. */
function readsIn(store: Store) {
  const rows = store.select().from(tables.auditLog).orderBy(desc(tables.auditLog.id)).all().toReversed();
  return rows
    .filter(({ action }) => action.startsWith("transcripts."))
    .map(({ details, id: _, ...row }) => ({ ...row, details: JSON.parse(details) as unknown }));
}

function scene() {
  const clock = { now: 1_000_000 };
  const shelf = new Shelf(() => clock.now);
  const reads = new ReadLog({ store: shelf.store, auditsReads: () => true, now: () => clock.now });
  const recordings = [1, 2].map(() => shelf.completed([]).recording);
  return { clock, shelf, reads, recordings };
}

test("a view is recorded once in ten minutes for each reader, surface and recording", () => {
  const { clock, shelf, reads, recordings } = scene();
  const [one, two] = recordings;
  if (one === undefined || two === undefined) throw new Error("no recordings");
  reads.viewed(reader, [one]);
  for (let page = 0; page < 50; page++) reads.viewed(reader, [one]);
  reads.viewed(reader, [one, two]);
  reads.viewed({ ...reader, actor: "user:2" }, [one]);
  reads.viewed({ ...reader, surface: "v1" }, [one]);
  expect(readsIn(shelf.store).map(({ actor, subject }) => [actor, subject])).toEqual([
    ["user:1", one.id],
    ["user:1", two.id],
    ["user:2", one.id],
    ["user:1", one.id],
  ]);
  clock.now += 10 * MINUTE - 1;
  reads.viewed(reader, [one]);
  expect(readsIn(shelf.store)).toHaveLength(4);
  clock.now += 1;
  reads.viewed(reader, [one]);
  expect(readsIn(shelf.store)).toHaveLength(5);
});

test("an entry says who read what and where, and never the text", () => {
  const { shelf, reads } = scene();
  const segment = { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "hidden words", words: [] };
  const { recording } = shelf.completed([segment], { sourceName: "hidden name" });
  reads.viewed(reader, [recording]);
  reads.exported({ actor: "key-1", surface: "v1" }, recording, "srt");
  const facts = { account: shelf.accountId, workspace: null, revision: 0 };
  expect(readsIn(shelf.store)).toEqual([
    {
      at: 1_000_000,
      actor: "user:1",
      action: "transcripts.view",
      subject: recording.id,
      details: { ...facts, surface: "console" },
    },
    {
      at: 1_000_000,
      actor: "key-1",
      action: "transcripts.export",
      subject: recording.id,
      details: { ...facts, surface: "v1", format: "srt" },
    },
  ]);
  expect(JSON.stringify(readsIn(shelf.store))).not.toContain("hidden");
});

test("each export is recorded", () => {
  const { shelf, reads, recordings } = scene();
  for (const recording of recordings)
    for (const format of ["srt", "srt", "json"]) reads.exported(reader, recording, format);
  expect(readsIn(shelf.store)).toHaveLength(6);
});

test("many readers take bounded memory, and their views stay recorded", () => {
  const { shelf, reads, recordings } = scene();
  for (let number = 0; number < 12_000; number++)
    reads.viewed({ ...reader, actor: `user:${number}` }, recordings.slice(0, 1));
  expect(readsIn(shelf.store)).toHaveLength(12_000);
  // The first ones were forgotten, the last ones are remembered.
  reads.viewed({ ...reader, actor: "user:0" }, recordings.slice(0, 1));
  reads.viewed({ ...reader, actor: "user:11999" }, recordings.slice(0, 1));
  expect(readsIn(shelf.store)).toHaveLength(12_001);
});

test("nothing is recorded unless the setting asks for it", () => {
  const { shelf, recordings } = scene();
  for (const services of [{}, { auditsReads: () => false }]) {
    const reads = new ReadLog({ store: shelf.store, now: () => 1, ...services });
    reads.viewed(reader, recordings);
    for (const recording of recordings) reads.exported(reader, recording, "srt");
  }
  expect(readsIn(shelf.store)).toEqual([]);
});

test("a read that cannot be recorded fails", () => {
  const { shelf, reads, recordings } = scene();
  shelf.store.$client.run("PRAGMA query_only = 1");
  expect(() => reads.viewed(reader, recordings)).toThrow();
  shelf.store.$client.run("PRAGMA query_only = 0");
  reads.viewed(reader, recordings);
  expect(readsIn(shelf.store)).toHaveLength(2);
});
