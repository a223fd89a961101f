import { beforeEach, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { requireAccount, setVocabulary } from "../../src/accounts/index.ts";
import type { Store } from "../../src/database/index.ts";
import { Checkpoints, type Recordings } from "../../src/recordings/index.ts";
import { indexMissing, indexRecording } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { speakerLabel, Transcript } from "../../src/transcripts/index.ts";
import { Shelf } from "../support/shelf.ts";

const segment: Segment = {
  index: 0,
  startSeconds: 0.12,
  endSeconds: 1.5,
  speaker: 0,
  text: "Hello.",
  words: [{ text: " Hello.", startSeconds: 0.12, endSeconds: 1.5, probability: 0.98765 }],
};

describe("a recording", () => {
  let shelf: Shelf;
  let store: Store;
  let recordings: Recordings;
  let clock = 1000;
  let accountId: string;
  const create = () => shelf.create();
  const segments = (id: string, from: number, limit: number) =>
    new Transcript(store, recordings.get(id) ?? create()).segments(from, limit);

  beforeEach(() => {
    shelf = new Shelf(() => clock++);
    ({ store, recordings, accountId } = shelf);
  });

  test("changes from queued to processing to completed, with its segments", () => {
    const { id, status } = create();
    expect(status).toBe("queued");
    expect(recordings.claim(id)?.status).toBe("processing");
    expect(recordings.complete(id, [segment])).toBe(true);
    expect(recordings.get(id)).toMatchObject({ status: "completed", percent: 100, step: null });
    expect(segments(id, 0, 10)).toEqual([
      {
        ...{ id: 0, index: 0, startMilliseconds: 120, endMilliseconds: 1500, speaker: 0, text: "Hello." },
        isSpeakerUncertain: false,
      },
    ]);
  });

  test("of which nothing is kept is in no list and in no search, until it is kept", async () => {
    const completed = () => shelf.completed([segment], { isTransient: true }).recording.id;
    const [first, second] = [completed(), completed()];
    for (const id of [first, second]) await indexRecording(store, id, new AbortController().signal);
    const found = () => store.$client.query("SELECT recording_id FROM searchable_recordings").all();
    expect(recordings.transientIds().sort()).toEqual([first, second].sort());
    expect([recordings.list({ accountId }, 10), found()]).toEqual([[], []]);
    expect(recordings.list({ includesTransient: true }, 10)).toHaveLength(2);
    recordings.keep(first);
    recordings.delete(second);
    expect(recordings.transientIds()).toEqual([]);
    await indexMissing(store, new AbortController().signal);
    expect(recordings.list({ accountId }, 10).map(({ id }) => id)).toEqual([first]);
    expect(found()).toEqual([{ recording_id: first }]);
  });

  test("waits since its suspension, or since its creation if it has not started", () => {
    const suspended = create();
    recordings.claim(suspended.id);
    recordings.describe(suspended.id, { durationSeconds: 60 });
    expect(recordings.open.longestQueuedSince()).toBeNull();
    const waiting = create();
    const requeued = recordings.requeue(suspended.id);
    expect(recordings.open.longestQueuedSince()).toBe(waiting.createdAt);
    recordings.fail(waiting.id, { reason: "internal", cause: "cancelled" });
    expect(recordings.open.longestQueuedSince()).toBe(requeued?.updatedAt ?? 0);
  });

  test("has the vocabulary that its account had when it was created", () => {
    const by = { actor: "operator", now: 1 };
    const account = requireAccount(store, "acme");
    const before = create();
    setVocabulary(store, account, by, "Ženski, Übermut");
    const between = create();
    setVocabulary(store, account, by, null);
    const words = [before, between, create()].map(({ id }) => recordings.claim(id)?.vocabulary);
    expect(words).toEqual([null, "Ženski, Übermut", null]);
  });

  test("has the hints that it was created with", () => {
    const hints = { prompt: "Zau al-Makan", minSpeakers: 2, maxSpeakers: 50 };
    const { id } = shelf.create(hints);
    expect(recordings.claim(id)).toMatchObject(hints);
    expect(recordings.claim(create().id)).toMatchObject({ prompt: null, minSpeakers: null, maxSpeakers: null });
  });

  test.each([
    [{ reason: "no_speech" }, null, null],
    [{ reason: "no_speech" }, "de", "de"],
    [{ reason: "internal", cause: "engine_crashed" }, null, "en"],
  ] as const)("that ends as %j with %p pinned has %p for its language", (failure, pinnedLanguage, language) => {
    const { id } = shelf.create({ pinnedLanguage });
    recordings.claim(id);
    recordings.describe(id, { language: pinnedLanguage ?? "en" });
    recordings.fail(id, failure);
    expect(recordings.get(id)?.language).toBe(language);
  });

  test("never changes again after its end", () => {
    const { id } = create();
    recordings.claim(id);
    recordings.complete(id, [segment]);
    const before = recordings.get(id);
    expect(recordings.claim(id)).toBeNull();
    expect(recordings.fail(id, { reason: "no_speech" })).toBe(false);
    expect(recordings.complete(id, [])).toBe(false);
    recordings.progress(id, "decode", 5);
    recordings.describe(id, { language: "de" });
    recordings.requeueAll();
    expect(recordings.get(id)).toEqual(before);
  });

  test("can fail before it starts", () => {
    const { id } = create();
    expect(recordings.fail(id, { reason: "internal", cause: "unexpected" })).toBe(true);
    expect(recordings.get(id)).toMatchObject({
      status: "failed",
      failureReason: "internal",
      failureCause: "unexpected",
    });
  });

  test("never decreases its percentage", () => {
    const { id } = create();
    recordings.claim(id);
    recordings.progress(id, "transcribe", 40);
    recordings.progress(id, "transcribe", 30);
    recordings.progress(id, "diarize", null);
    expect(recordings.get(id)).toMatchObject({ step: "diarize", percent: 40 });
  });

  test("has checkpoints only until it ends", () => {
    const schema = Type.Object({ x: Type.Integer() });
    const { id } = create();
    recordings.claim(id);
    const checkpoints = new Checkpoints(store, id);
    checkpoints.write("detect", 0, schema, { x: 1 });
    checkpoints.write("detect", 2, schema, { x: 3 });
    expect(checkpoints.finished("detect")).toEqual(new Set([0, 2]));
    expect(checkpoints.read("detect", 2, schema)).toEqual({ x: 3 });
    expect(checkpoints.read("detect", 1, schema)).toBeNull();
    expect(checkpoints.read("detect", 0, Type.Object({ y: Type.String() }))).toBeNull();
    recordings.complete(id, [segment]);
    while (recordings.rows.removeWork(id, 1));
    expect(checkpoints.finished("detect")).toEqual(new Set());
    expect(segments(id, 0, 10)).toHaveLength(1);
  });

  test("accepts segments only while it is processed", () => {
    const { id } = create();
    expect(recordings.rows.addSegments(id, [segment])).toBe(false);
    recordings.claim(id);
    expect(recordings.rows.addSegments(id, [segment, { ...segment, index: 1 }])).toBe(true);
    expect(recordings.get(id)?.status).toBe("processing");
    expect(recordings.complete(id, [{ ...segment, index: 2 }])).toBe(true);
    expect(recordings.rows.addSegments(id, [{ ...segment, index: 3 }])).toBe(false);
    expect(recordings.rows.removeSegments(id, 1)).toBe(false);
    expect(segments(id, 0, 10).map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  test("has no segments after it failed, and the rest of its work is found", () => {
    const ids = [create().id, create().id, create().id] as const;
    for (const id of ids) {
      recordings.claim(id);
      new Checkpoints(store, id).write("turns", 0, Type.Object({}), {});
      for (let index = 0; index < 5; index++) recordings.rows.addSegments(id, [{ ...segment, index }]);
    }
    recordings.fail(ids[0], { reason: "internal", cause: "cancelled" });
    recordings.complete(ids[1], []);
    expect(recordings.rows.endedWithWork().toSorted()).toEqual([ids[0], ids[1]]);
    let slices = 0;
    while (recordings.rows.removeWork(ids[0], 2)) slices++;
    expect(slices).toBe(2);
    for (const id of [ids[1], ids[2], Bun.randomUUIDv7()]) while (recordings.rows.removeWork(id, 2));
    expect(recordings.rows.endedWithWork()).toEqual([]);
    expect(ids.map((id) => segments(id, 0, 10).length)).toEqual([0, 5, 5]);
    expect(new Checkpoints(store, ids[2]).finished("turns").size).toBe(1);
  });

  test("counts for its account while it is open", () => {
    const { id } = create();
    create();
    expect(recordings.open.countOf(accountId)).toBe(2);
    recordings.claim(id);
    recordings.fail(id, { reason: "too_short" });
    expect(recordings.open.countOf(accountId)).toBe(1);
  });

  test("that was processed is listed before those that were queued", () => {
    const ids = [create().id, create().id, create().id];
    recordings.claim(ids[2] ?? "");
    const open = () => {
      const { processing, queued } = recordings.open.list();
      return { processing: processing.map(({ id }) => id), queued: queued.map(({ id }) => id) };
    };
    expect(open()).toEqual({ processing: [ids[2] ?? ""], queued: ids.slice(0, 2) });
    recordings.requeueAll();
    expect(open()).toEqual({ processing: [], queued: ids });
  });

  test("is reported as open or ended among more ids than one statement takes; a missing one is left out", () => {
    const ids = Array.from({ length: 1201 }, () => create().id);
    const [ended = "", deleted = ""] = [ids[0], ids[1200]];
    for (const id of [ended, deleted]) recordings.fail(id, { reason: "no_speech" });
    recordings.delete(deleted);
    const areOpen = recordings.open.areOpen([...ids, Bun.randomUUIDv7(), "no id"]);
    expect([...areOpen.keys()].sort()).toEqual(ids.slice(0, 1200).sort());
    expect([...areOpen].filter(([, isOpen]) => !isOpen)).toEqual([[ended, false]]);
    expect(recordings.open.areOpen([])).toEqual(new Map());
  });

  test("stores more segments than one statement can hold", () => {
    const { id } = create();
    recordings.claim(id);
    recordings.complete(
      id,
      Array.from({ length: 2500 }, (_, index) => ({ ...segment, index })),
    );
    expect(segments(id, 2400, 1000)).toHaveLength(100);
  });
});

test.each([
  [0, "A"],
  [25, "Z"],
  [26, "AA"],
  [51, "AZ"],
  [52, "BA"],
  [701, "ZZ"],
  [702, "AAA"],
] as const)("speaker %d is called %s", (speaker, label) => {
  expect(speakerLabel(speaker)).toBe(label);
});
