import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { BadNetwork, type Fate, refusal } from "../../support/bad-network.ts";
import { apiClient, connectedClient, TestClock } from "../../support/cli-client.ts";
import { ApiServer, type KeyClient } from "../../support/http.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");

describe.if(available("tests of sending recordings", jfk, ffmpegPath))("a sent recording", () => {
  const server = new ApiServer({ recordingsPerAccount: 2 });
  const network = new BadNetwork(() => server.origin);
  const nothing = { hints: {}, onSent: () => {} };
  let origin = "";
  let account = 0;
  let caller: KeyClient;
  beforeAll(async () => {
    origin = await network.listen();
  });
  beforeEach(() => {
    account += 1;
    caller = server.client(`sender-${account}`);
    network.seen.splice(0);
    network.fates.splice(0);
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    server[Symbol.dispose]();
  });

  const send = async (clock: TestClock, input = jfk) =>
    (await connectedClient(origin, caller.key, clock)).create(input, nothing);
  const creates = () => network.seen.filter(({ method }) => method === "POST");
  const idsOf = async () => {
    const page = (await (await caller.fetch("/transcriptions")).json()) as { data: { id: string }[] };
    return page.data.map(({ id }) => id);
  };

  const troubles: [string, Fate[], number[]][] = [
    ["whose connection breaks", ["break", "break"], [1000, 2000]],
    ["whose response is lost", ["lose the answer"], [1000]],
    [
      "that gets 500, then 503",
      [refusal(500, "internal_error"), refusal(503, "service_unavailable", { "Retry-After": "7" })],
      [1000, 7000],
    ],
    ["that gets a proxy's 502", [{ status: 502, body: "<html>Bad Gateway</html>" }], [1000]],
    ["that is rate limited", [refusal(429, "rate_limited", { "Retry-After": "33" })], [33_000]],
    ["whose first request is still in progress", [refusal(409, "idempotency_request_in_progress")], [2000]],
  ];
  test.each(troubles)("%s is sent again with the same key, and is created once", async (_, fates, sleeps) => {
    network.fates.push(...fates);
    const clock = new TestClock();
    const created = await send(clock);
    expect(clock.sleeps).toEqual(sleeps);
    expect(await idsOf()).toEqual([created.id]);
    expect(creates()).toHaveLength(fates.length + 1);
    expect(new Set(creates().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  test("that arrived damaged is sent again with a new key, at most twice", async () => {
    const broken = refusal(422, "uploaded_file_cannot_be_processed");
    network.fates.push(broken, broken);
    const clock = new TestClock();
    expect(await idsOf()).toEqual([]);
    expect((await send(clock)).status).toBe("queued");
    expect(clock.sleeps).toEqual([]);
    expect(new Set(creates().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);

    network.fates.push(broken, broken, broken);
    await expect(send(clock)).rejects.toThrow("uploaded_file_cannot_be_processed");
  });

  test("without a free place in the account waits for one", async () => {
    const [first] = [server.enterQueued(caller.accountId), server.enterProcessing(caller.accountId)];
    const clock = new TestClock();
    clock.onSleep = (count) => {
      if (count === 3) server.recordings.fail(first, { reason: "internal", cause: "cancelled" });
    };
    expect((await send(clock)).status).toBe("queued");
    expect(clock.sleeps).toEqual([5000, 10_000, 20_000]);
  });

  test("whose server restarts meanwhile is created once", async () => {
    network.fates.push("lose the answer");
    const clock = new TestClock();
    clock.onSleep = () => server.restart();
    const created = await send(clock);
    expect(await idsOf()).toEqual([created.id]);
  });

  test("that is not audio is refused once, with the server's reason", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'a "quoted" näme\n.txt');
    await Bun.write(path, "no recording");
    await expect(send(new TestClock(), path)).rejects.toThrow("422, validation_failed");
    expect(creates()).toHaveLength(1);
    await expect(send(new TestClock(), directory.path)).rejects.toThrow("is a directory");
    await expect(send(new TestClock(), join(directory.path, "none"))).rejects.toThrow("there is no file");
  });

  test("keeps its name with quotes, line breaks and any letters", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "会議 100% ü.mp3");
    await Bun.write(path, Bun.file(jfk));
    expect((await send(new TestClock(), path)).source.name).toBe("会議 100% ü");
  });

  test("given by a link is sent as a link", async () => {
    const created = await send(new TestClock(), "https://example.org/talk.mp3#t=1");
    expect(created.source).toEqual({ type: "url", name: null, url: "https://example.org/talk.mp3" });
  });

  test("is not retried at an address where nothing listens", async () => {
    const clock = new TestClock();
    const client = apiClient("http://127.0.0.1:1", caller.key, clock);
    await expect(client.checkKey()).rejects.toMatchObject({ exitCode: 4 });
    expect(clock.sleeps).toEqual([]);
  });
});
