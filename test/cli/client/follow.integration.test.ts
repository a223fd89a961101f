import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connectedClient, TestClock } from "../../support/cli-client.ts";
import { ApiServer } from "../../support/http.ts";

setDefaultTimeout(60_000);

const quietly = { everySeconds: undefined, atOnce: false, together: () => 1, onPoll: () => {} };
const spoken = [{ index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "Yes.", words: [] }];

describe("the client that follows a recording", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const caller = server.client("follower");
  const follow = async (clock: TestClock, id: string, options = {}) =>
    (await connectedClient(server.origin, caller.key, clock)).follow(id, { ...quietly, ...options });

  test("polls first after 10 s, then every 5 s", async () => {
    const id = server.enterQueued(caller.accountId);
    const clock = new TestClock();
    clock.onSleep = (count) => {
      if (count === 2) server.recordings.claim(id);
      if (count === 5) server.recordings.complete(id, spoken);
    };
    expect((await follow(clock, id)).status).toBe("completed");
    expect(clock.sleeps).toEqual([10_000, 5000, 5000, 5000, 5000]);
  });

  test("polls a recording of at least ten minutes less and less often, up to every 30 s", async () => {
    const id = server.enterProcessing(caller.accountId);
    server.recordings.describe(id, { durationSeconds: 3600 });
    const clock = new TestClock();
    clock.onSleep = (count) => void (count === 5 && server.recordings.fail(id, { reason: "no_speech" }));
    expect((await follow(clock, id)).failure_reason).toBe("no_speech");
    expect(clock.sleeps).toEqual([10_000, 20_000, 30_000, 30_000, 30_000]);
  });

  test("polls a recording that turns out to be long less and less often, from its short pause on", async () => {
    const id = server.enterProcessing(caller.accountId);
    const clock = new TestClock();
    clock.onSleep = (count) => {
      if (count === 2) server.recordings.describe(id, { durationSeconds: 600 });
      if (count === 6) server.recordings.complete(id, spoken);
    };
    await follow(clock, id);
    expect(clock.sleeps).toEqual([10_000, 5000, 10_000, 20_000, 30_000, 30_000]);
  });

  test("stops after twice the length plus ten minutes, but not while the recording is queued", async () => {
    const id = server.enterQueued(caller.accountId);
    const clock = new TestClock();
    let claimedAt = 0;
    clock.onSleep = () => {
      if (claimedAt > 0 || clock.now() < 3_600_000) return;
      server.recordings.claim(id);
      server.recordings.describe(id, { durationSeconds: 60 });
      claimedAt = clock.now();
    };
    await expect(follow(clock, id)).rejects.toThrow(`transcribe watch ${id}`);
    expect(clock.now() - claimedAt).toBeWithin(720_000, 740_000);
  });

  test("polls many recordings slowly, to leave the key's rate limit to other requests", async () => {
    const id = server.enterProcessing(caller.accountId);
    const clock = new TestClock();
    clock.onSleep = (count) => void (count === 3 && server.recordings.complete(id, spoken));
    await follow(clock, id, { together: () => 40 });
    expect(clock.sleeps).toEqual([40_000, 40_000, 40_000]);
  });

  test("does not repeat a request for a missing recording", async () => {
    const clock = new TestClock();
    await expect(follow(clock, Bun.randomUUIDv7(), { atOnce: true })).rejects.toMatchObject({ code: "not_found" });
    expect(clock.sleeps).toEqual([]);
  });
});
