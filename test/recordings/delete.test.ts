import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store, tables } from "../../src/database/index.ts";
import { findAnswer, Recordings, storeAnswer } from "../../src/recordings/index.ts";
import { packSegment, writeTranslation } from "../../src/segments/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { Shelf } from "../support/shelf.ts";

const day = 86_400_000;

describe("deleting a recording", () => {
  let shelf: Shelf;
  let recordings: Recordings;
  beforeEach(() => {
    shelf = new Shelf(() => 1000);
    ({ recordings } = shelf);
  });
  const states = {
    queued: () => {},
    processing: (id: string) => void recordings.claim(id),
    completed: (id: string) => {
      recordings.claim(id);
      recordings.complete(id, []);
    },
    failed: (id: string) => void recordings.fail(id, { reason: "too_short" }),
  };

  const rules: [keyof typeof states, boolean, boolean][] = [
    ["queued", false, false],
    ["processing", false, false],
    ["completed", false, true],
    ["failed", false, true],
    ["queued", true, false],
    ["processing", true, false],
    ["completed", true, false],
    ["failed", true, false],
  ];
  for (const [state, held, deleted] of rules) {
    test(`that is ${state}${held ? " and held" : ""} is ${deleted ? "done" : "refused, and leaves it whole"}`, () => {
      const { id } = shelf.create();
      states[state](id);
      if (held) recordings.setHold(id, true);
      let also = false;
      expect(
        recordings.delete(id, () => {
          also = true;
        }),
      ).toBe(deleted);
      expect([recordings.get(id) === null, also]).toEqual([deleted, deleted]);
      expect(recordings.delete(id)).toBe(false);
    });
  }

  test("setting or ending a hold reports whether anything changed", () => {
    const { id } = shelf.create();
    const entries: string[] = [];
    const set = (held: boolean) => recordings.setHold(id, held, () => void entries.push(String(held)));
    expect([set(false), set(true), set(true), set(false), set(false)]).toEqual([false, true, false, true, false]);
    expect(entries).toEqual(["true", "false"]);
    expect(recordings.setHold("nothing", true)).toBe(false);
  });

  test("clears the stored answer that describes the recording, and no other", () => {
    const ids = ["a", "b"].map((key) => {
      const { id } = shelf.create();
      const answer = { fingerprint: key, status: 201, body: `body of ${key}`, recordingId: id };
      storeAnswer(shelf.store, { accountId: shelf.accountId, workspaceId: null, key }, answer, 0);
      return id;
    });
    recordings.fail(ids[0] ?? "", { reason: "no_speech" });
    recordings.delete(ids[0] ?? "");
    const scope = { accountId: shelf.accountId, workspaceId: null };
    const bodies = ["a", "b"].map((key) => findAnswer(shelf.store, { ...scope, key }, 1)?.body);
    expect(bodies).toEqual([null, "body of b"]);
  });
});

describe("a deleted recording of hours", () => {
  const segments = Array.from({ length: 2050 }, (_, index) =>
    packSegment({ index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: `Secret ${index}.`, words: [] }),
  );
  /** A database in a file, with a recording of hours and another. */
  const filled = (path: string) => {
    const shelf = new Shelf(() => 1000, openDatabase(path));
    const { store, recordings, accountId } = shelf;
    const enter = (some: typeof segments) => {
      const transcript = shelf.completed(some, { sourceName: "secret talk" });
      const { id } = transcript.recording;
      const english = some.map((segment) => ({ ...segment, text: `Secret translation ${segment.index}.` }));
      writeTranslation(store, id, english);
      store.insert(tables.checkpoints).values({ recordingId: id, step: "decode", part: 0, payload: "{}" }).run();
      transcript.correct(
        { action: "text", segment: 2, text: "Secret correction." },
        { author: "anna", editor: "page-one", sequence: 1, seen: 0, now: 1000 },
      );
      return id;
    };
    return { store, recordings, accountId, id: enter(segments), other: enter(segments.slice(0, 7)) };
  };
  const counts = (store: Store, id: string) =>
    ["recordings", "segments", "translated_segments", "checkpoints", "corrected_segments", "revisions"].map(
      (table) =>
        store.$client
          .query<{ rows: number }, [string]>(
            `SELECT count(*) AS rows FROM ${table} WHERE ${table === "recordings" ? "id" : "recording_id"} = ?`,
          )
          .get(id)?.rows,
    );

  test("is invisible at once, and its text is removed in batches between which other work runs", async () => {
    const { store, recordings, accountId, id, other } = filled(":memory:");
    expect(recordings.delete(id)).toBe(true);
    const left = new Set<number | undefined>();
    const turns = await countTurnsUntilSettled(recordings.rows.removeDeleted([id]), () => {
      expect([recordings.get(id), recordings.list({ accountId }, 9).map((each) => each.id)]).toEqual([null, [other]]);
      expect([recordings.delete(id), recordings.setHold(id, true)]).toEqual([false, false]);
      left.add(counts(store, id)[1]);
    });
    expect(turns).toBeGreaterThanOrEqual(15);
    expect(left.size).toBeGreaterThanOrEqual(15);
    expect([counts(store, id), counts(store, other)]).toEqual([
      [0, 0, 0, 0, 0, 0],
      [1, 7, 7, 1, 7, 1],
    ]);
  });

  test("is removed completely by the next server when the first one was killed", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcribe.db");
    const { store, recordings, id, other } = filled(path);
    recordings.delete(id);
    const removing = recordings.rows.removeDeleted([id]);
    let turns = 0;
    await countTurnsUntilSettled(
      removing.catch(() => {}),
      () => void (++turns === 5 && store.$client.close()),
    );
    expect(removing).rejects.toThrow("closed");
    const next = new Recordings(openDatabase(path), () => 2000);
    const nextStore = openDatabase(path);
    expect([next.get(id), counts(nextStore, id)[0], counts(nextStore, id)[1] === 0]).toEqual([null, 1, false]);
    await next.rows.removeDeleted(next.deletedIds());
    expect([counts(nextStore, id), counts(nextStore, other)]).toEqual([
      [0, 0, 0, 0, 0, 0],
      [1, 7, 7, 1, 7, 1],
    ]);
    expect(readFileSync(path, "latin1")).not.toContain("Secret 2000.");
    expect(readFileSync(path, "latin1")).not.toContain("Secret translation 2000.");
    expect(readFileSync(path, "latin1").match(/Secret correction/g)?.length).toBe(2);
  });

  test("waits for a reader of the database without blocking the process", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcribe.db");
    const { recordings, id } = filled(path);
    const reader = new Database(path, { readonly: true });
    reader.run("BEGIN");
    const seen = () => reader.query<{ rows: number }, []>("SELECT count(*) AS rows FROM segments").get()?.rows;
    expect(seen()).toBe(2057);
    recordings.delete(id);
    let isDone = false;
    const removed = recordings.rows.removeDeleted([id]).then(() => {
      isDone = true;
    });
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([isDone, statSync(`${path}-wal`).size > 0, seen()]).toEqual([false, true, 2057]);
    reader.run("COMMIT");
    await removed;
    expect(statSync(`${path}-wal`).size).toBe(0);
    reader.close();
  });
});

describe("a stored answer", () => {
  test("is found by account, workspace and key for 24 hours, and can be stored again afterwards", () => {
    const store = openDatabase(":memory:");
    const accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
    const scope = { accountId, workspaceId: "w", key: "k" };
    const answer = { fingerprint: "f", status: 422, body: "b", recordingId: null };
    storeAnswer(store, scope, answer, 0);
    expect(findAnswer(store, scope, day - 1)).toEqual(answer);
    for (const other of [
      { accountId: "x" },
      { workspaceId: null },
      { workspaceId: "W" },
      { key: "K" },
      { key: "k " },
    ]) {
      expect(findAnswer(store, { ...scope, ...other }, 1)).toBeNull();
    }
    expect(findAnswer(store, scope, day)).toBeNull();
    storeAnswer(store, scope, { ...answer, fingerprint: "g" }, day);
    expect(findAnswer(store, scope, day)?.fingerprint).toBe("g");
  });
});
