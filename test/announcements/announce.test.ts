import { beforeEach, expect, test } from "bun:test";
import { tables } from "../../src/database/index.ts";
import { addWebhook, recordingEvents, type Webhook } from "../../src/webhooks/index.ts";
import { Shelf } from "../support/shelf.ts";

let shelf: Shelf;
let now = 1_000_000;
const said = { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "a secret text", words: [] };

beforeEach(() => {
  now = 1_000_000;
  shelf = new Shelf(() => now);
});

function add(events: Webhook["events"] = recordingEvents, accountId = shelf.accountId): string {
  const url = `https://app.example.org/${crypto.randomUUID()}`;
  return addWebhook(shelf.store, { id: accountId, name: "acme" }, { url, events }, { actor: "operator", now }).webhook
    .id;
}

const deliveries = () =>
  shelf.store.select().from(tables.webhookDeliveries).orderBy(tables.webhookDeliveries.position).all();
const types = () => deliveries().map(({ type }) => type);
const dataOf = (at: number): unknown => JSON.parse(deliveries()[at]?.body ?? "null");

test("the life of a recording is announced with ids and facts, and with neither its name nor its words", () => {
  add();
  const transcript = shelf.completed([said]);
  const { id } = transcript.recording;
  const by = { author: "operator", editor: "page", sequence: 1, seen: 0, now };
  transcript.correct({ action: "text", segment: 0, text: "another secret text" }, by);
  shelf.recordings.delete(id);
  expect(types()).toEqual(["recording.completed", "recording.corrected", "recording.deleted"]);
  expect(dataOf(1)).toEqual({
    type: "recording.corrected",
    timestamp: new Date(now).toISOString(),
    data: {
      ...{ id, workspace_id: null, status: "completed", failure_reason: null, language: null, duration_seconds: null },
      ...{ revision: 1, created_at: new Date(now).toISOString() },
    },
  });
  const bodies = deliveries().map(({ body }) => body);
  expect(bodies.join()).not.toMatch(/secret|talk/);
});

test("a failed and a cancelled recording are announced as failed", () => {
  add();
  const failed = shelf.create().id;
  shelf.recordings.fail(failed, { reason: "no_speech" });
  const cancelled = shelf.create().id;
  shelf.recordings.fail(cancelled, { reason: "internal", cause: "cancelled" });
  expect(types()).toEqual(["recording.failed", "recording.failed"]);
  expect(dataOf(0)).toMatchObject({ data: { id: failed, status: "failed", failure_reason: "no_speech" } });
  expect(dataOf(1)).toMatchObject({ data: { id: cancelled, status: "failed", failure_reason: "internal" } });
});

test("corrections within ten seconds are one event, unless an attempt to send it was begun", () => {
  add(["recording.corrected"]);
  const transcript = shelf.completed([said]);
  const correct = (sequence: number) =>
    transcript.correct(
      { action: "text", segment: 0, text: `text ${sequence}` },
      { author: "operator", editor: "page", sequence, seen: sequence, now },
    );
  correct(1);
  correct(2);
  expect(deliveries()).toMatchObject([{ dueAt: now + 10_000 }]);
  expect(dataOf(0)).toMatchObject({ data: { revision: 2 } });
  shelf.store.update(tables.webhookDeliveries).set({ attempts: 1 }).run();
  correct(3);
  expect([dataOf(0), dataOf(1)]).toMatchObject([{ data: { revision: 2 } }, { data: { revision: 3 } }]);
});

test("a rerun is announced as a correction of its recording, and as nothing else", () => {
  add();
  const { recordings } = shelf;
  const { id } = shelf.completed([said]).recording;
  const choice = { speechModel: "whisper-base", pinnedLanguage: null, author: "operator" };
  const rerun = recordings.reruns.create(id, choice, () => {})?.id ?? "";
  recordings.claim(rerun);
  recordings.complete(rerun, [{ ...said, text: "new" }]);
  expect(types()).toEqual(["recording.completed", "recording.corrected"]);
  expect(deliveries().map(({ recordingId }) => recordingId)).toEqual([id, id]);
});

test("a recording for which a client waits is announced once it is kept", () => {
  add();
  const { recordings } = shelf;
  const transient = shelf.completed([said], { isTransient: true }).recording.id;
  const deleted = shelf.completed([said], { isTransient: true }).recording.id;
  recordings.delete(deleted);
  expect(types()).toEqual([]);
  recordings.keep(transient);
  recordings.keep(transient);
  expect(deliveries()).toMatchObject([{ type: "recording.completed", recordingId: transient }]);
});

test("each webhook of the account gets the events that it receives, also while it is paused; others get none", () => {
  const all = add();
  const some = add(["recording.deleted"]);
  shelf.store
    .insert(tables.accounts)
    .values({ ...accountRow(), id: "other", name: "other" })
    .run();
  add(recordingEvents, "other");
  shelf.store.update(tables.webhooks).set({ pausedAt: now, pauseReason: "command" }).run();
  const { id } = shelf.completed([said]).recording;
  shelf.recordings.delete(id);
  expect(deliveries().map(({ webhookId, type }) => [webhookId, type])).toEqual([
    [all, "recording.completed"],
    [all, "recording.deleted"],
    [some, "recording.deleted"],
  ]);
});

test("of the events of a recording only the first is due at each webhook", () => {
  add();
  const { id } = shelf.completed([said]).recording;
  shelf.recordings.delete(id);
  shelf.completed([said]);
  expect(deliveries().map(({ dueAt }) => dueAt)).toEqual([now, null, now]);
});

test("a change that is rolled back announces nothing", () => {
  add();
  const { id } = shelf.create();
  shelf.recordings.claim(id);
  const refuse = () => {
    throw new Error("the disk is full");
  };
  expect(() => shelf.recordings.complete(id, [said], refuse)).toThrow("the disk is full");
  expect(types()).toEqual([]);
});

function accountRow() {
  const row = shelf.store.select().from(tables.accounts).get();
  if (row === undefined) throw new Error("the account is missing");
  return row;
}
