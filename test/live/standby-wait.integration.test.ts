import { afterEach, beforeEach, expect, test } from "bun:test";
import { LiveServer } from "./live-server.ts";
import { sound } from "./scripted-engine.ts";

let server: LiveServer;
beforeEach(() => {
  server = new LiveServer();
});
afterEach(async () => await server[Symbol.asyncDispose]());

test("the end of a session is reported when the standby has its recording", async () => {
  const { session, events } = server.open();
  session.write(sound([2000, 1]));
  const confirmed: number[] = [];
  server.standby.onConfirm = () => {
    confirmed.push(server.queued.length, events.of("ended").length);
  };
  await session.end();
  expect(confirmed).toEqual([1, 0]);
  expect(events.of("ended")).toEqual([{ type: "ended", reason: "client", recordingId: server.queued[0] ?? "" }]);
  expect(events.of("unconfirmed")).toEqual([]);
});

test("a session whose standby is away is recorded, tells the reason once, and ends when the standby is back", async () => {
  const { session, events } = server.open();
  session.write(sound([2000, 1]));
  server.standby.isThere = false;
  server.advance(3);
  session.write(sound([2000, 2]));
  expect(events.of("unconfirmed")).toEqual([{ type: "unconfirmed", reason: "the standby is away" }]);
  const ended = session.end();
  await events.received("unconfirmed", 2);
  // The recording is there and waits in the queue, but nobody has learnt of it.
  expect([server.queued.length, events.of("ended").length]).toEqual([1, 0]);
  server.standby.isThere = true;
  await ended;
  expect(events.of("ended")).toMatchObject([{ reason: "client", recordingId: server.queued[0] ?? "" }]);
  expect(events.of("unconfirmed")).toHaveLength(2);
});

test("a session that is kept by nobody also ends only when the standby has its charge", async () => {
  const { session, events } = server.open({ keep: false });
  session.write(sound([2000, 1]));
  server.standby.isThere = false;
  const ended = session.end();
  await events.received("unconfirmed");
  expect(events.of("ended")).toEqual([]);
  server.standby.isThere = true;
  await ended;
  expect(events.of("ended")).toEqual([{ type: "ended", reason: "client", recordingId: null }]);
});

test("a server that stops while an end waits for the standby reports no recording", async () => {
  const { session, events } = server.open();
  session.write(sound([2000, 1]));
  server.standby.isThere = false;
  void session.end();
  await events.received("unconfirmed");
  await server.live.stop();
  expect(events.of("ended")).toEqual([{ type: "ended", reason: "stopping", recordingId: null }]);
  expect(server.queued).toHaveLength(1);
});
