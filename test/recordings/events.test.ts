import { expect, test } from "bun:test";
import pino from "pino";
import { type RecordingEnded, RecordingEvents } from "../../src/recordings/events.ts";

const event: RecordingEnded = {
  id: Bun.randomUUIDv7(),
  accountId: "acme",
  workspaceId: null,
  outcome: "failed",
  failure: { reason: "no_speech" },
  language: null,
  durationSeconds: 3,
  processingSeconds: 1,
};

test("every subscriber gets the end of a recording, even after one that fails, which is logged", () => {
  const lines: string[] = [];
  const events = new RecordingEvents(pino({ base: null }, { write: (line: string) => lines.push(line) }));
  const got: string[] = [];
  events.onEnded("first", ({ id }) => got.push(`first ${id}`));
  events.onEnded("broken", () => {
    throw new Error("the index is gone");
  });
  const unsubscribe = events.onEnded("last", ({ outcome }) => got.push(`last ${outcome}`));
  events.ended(event);
  unsubscribe();
  events.ended(event);
  expect(got).toEqual([`first ${event.id}`, "last failed", `first ${event.id}`]);
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    Array(2).fill(
      expect.objectContaining({
        event: "recording.subscriber_failed",
        recordingId: event.id,
        subscriber: "broken",
        err: expect.objectContaining({ message: "the index is gone" }),
      }),
    ),
  );
});

test("a second subscription under the same name is refused", () => {
  const events = new RecordingEvents(pino({ level: "silent" }));
  events.onEnded("search index", () => {});
  expect(() => events.onEnded("search index", () => {})).toThrow("search index has subscribed already");
});
