import { beforeEach, expect, test } from "bun:test";
import pino from "pino";
import type { Store } from "../../src/database/index.ts";
import { RecordingEvents, type Recordings, trimOutbox } from "../../src/recordings/index.ts";
import { Shelf } from "../support/shelf.ts";

const DAY = 86_400_000;

let shelf: Shelf;
let store: Store;
let recordings: Recordings;
let now = 1000 * DAY;
const silent = pino({ level: "silent" });

beforeEach(() => {
  shelf = new Shelf(() => now);
  ({ store, recordings } = shelf);
});

/** Enters a recording and ends it in one way. @returns its id */
function ended(end: (id: string) => void): string {
  const { id } = shelf.create();
  recordings.claim(id);
  end(id);
  return id;
}

const complete = (id: string) => void recordings.complete(id, []);
const fail = (id: string) => void recordings.fail(id, { reason: "no_speech" });
const cancel = (id: string) => void recordings.fail(id, { reason: "internal", cause: "cancelled" });

/** Returns the ends that a server which starts now delivers. */
function deliveredByNext(): string[] {
  const got: string[] = [];
  const events = new RecordingEvents(store, silent);
  events.onEnded("test", ({ id, outcome }) => got.push(`${outcome} ${id}`));
  events.deliver();
  return got;
}

test("every subscriber gets the end of a recording once, even after one that fails, which is logged", () => {
  const lines: string[] = [];
  const events = new RecordingEvents(store, pino({ base: null }, { write: (line: string) => lines.push(line) }));
  const got: string[] = [];
  events.onEnded("first", ({ id }) => got.push(`first ${id}`));
  events.onEnded("broken", () => {
    throw new Error("the index is gone");
  });
  const unsubscribe = events.onEnded("last", ({ outcome }) => got.push(`last ${outcome}`));
  const one = ended(fail);
  events.deliver();
  events.deliver();
  unsubscribe();
  const other = ended(complete);
  events.deliver();
  expect(got).toEqual([`first ${one}`, "last failed", `first ${other}`]);
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [one, other].map((recordingId) =>
      expect.objectContaining({
        event: "recording.subscriber_failed",
        recordingId,
        subscriber: "broken",
        err: expect.objectContaining({ message: "the index is gone" }),
      }),
    ),
  );
});

test("ends that no server has delivered are delivered by the next one, in their order, also of removed recordings", async () => {
  const ids = [complete, fail, cancel].map(ended);
  const [deleted = ""] = recordings.deleteSomeOf(shelf.accountId, 1);
  await recordings.rows.removeDeleted([deleted]);
  expect(deliveredByNext()).toEqual(["completed", "failed", "cancelled"].map((outcome, at) => `${outcome} ${ids[at]}`));
  expect(deliveredByNext()).toEqual([]);
});

test("the end of a recording whose account is removed is that of a cancelled one", () => {
  const { id } = shelf.create();
  recordings.deleteSomeOf(shelf.accountId, 10);
  expect(deliveredByNext()).toEqual([`cancelled ${id}`]);
});

test("a transition that does not happen stores no end", () => {
  const id = ended(complete);
  deliveredByNext();
  expect([recordings.complete(id, []), recordings.fail(id, { reason: "no_speech" })]).toEqual([false, false]);
  expect(deliveredByNext()).toEqual([]);
});

test("ends of a week ago, and all but the last ten thousand, are forgotten", () => {
  ended(complete);
  now += 7 * DAY + 1;
  const id = ended(fail);
  trimOutbox(store, now);
  expect(deliveredByNext()).toEqual([`failed ${id}`]);
  store.$client.run(
    `INSERT INTO outbox (recording_id, outcome, at)
      SELECT value, 'failed', ${now} FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 10020) SELECT value FROM n)`,
  );
  trimOutbox(store, now);
  const left = deliveredByNext();
  expect([left.length, left[0], left.at(-1)]).toEqual([10_000, "failed 21", "failed 10020"]);
});

test("a second subscription under the same name is refused", () => {
  const events = new RecordingEvents(store, silent);
  events.onEnded("search index", () => {});
  expect(() => events.onEnded("search index", () => {})).toThrow("search index has subscribed already");
});
