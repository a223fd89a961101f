import { describe, expect, test } from "bun:test";
import { type EventSink, eventStream } from "../../../src/http/compat/event-stream.ts";

async function* parts(failure: Error | null) {
  yield '{"text":';
  yield '"a"';
  if (failure !== null) throw failure;
  yield "}";
}

/** Returns the events of a stream, without its comments. */
async function eventsOf(run: (sink: EventSink) => Promise<void>): Promise<string[]> {
  const text = await eventStream({ run, onDisconnect() {} }).text();
  return text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
}

describe("a stream of events", () => {
  test("sends an event whose JSON comes in parts as one event", async () => {
    const events = await eventsOf(async (sink) => {
      await sink.sendParts(parts(null));
      sink.send({ type: "next" });
    });
    expect(events).toEqual(['data: {"text":"a"}', 'data: {"type":"next"}']);
  });

  test("sends the error as an event of its own when the parts of another one fail", async () => {
    const events = await eventsOf(async (sink) => {
      await sink.sendParts(parts(new Error("lost"))).catch(() => sink.send({ type: "error" }));
    });
    expect(events).toEqual(['data: {"text":"a"', 'event: error\ndata: {"type":"error"}']);
  });
});
