import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import {
  becomesTrue,
  createAtOnce,
  cutUpload,
  type LoadTarget,
  poll,
  type Slowness,
  slowClient,
  tally,
} from "../../harness/load-clients.ts";
import { fakeFfmpeg, inFolder, namesIn } from "../../harness/media.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { probeRecording } from "../../src/media/index.ts";
import { ApiServer } from "../support/http.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of load", ffmpegPath, jfk);

function targetOf(server: ApiServer): LoadTarget {
  return { dataDirectory: server.dataDirectory.root };
}

/** scripts/endurance load does the same with more clients, on a server that processes recordings. */
describe.if(ready)("under load", () => {
  test("each account gets its places, and not more recordings than it may create", async () => {
    // No upload ends before all others were refused: its place would go to one of them.
    using server = new ApiServer({
      limits: { creates_per_hour: 3 },
      probe: async (path) => {
        await becomesTrue(() => server.log.filter(({ status }) => status === 409).length === 10);
        return await probeRecording(ffmpegPath, path);
      },
    });
    using roomy = new ApiServer();
    const clients = [1, 2].map((index) => server.client(`account-${index}`));
    const few = await createAtOnce(targetOf(server), clients, 10, jfk);
    for (const statuses of few.statuses) expect(tally(statuses)).toBe("3 × 201, 5 × 409, 2 × 429");
    const others = [1, 2, 3].map((index) => roomy.client(`account-${index}`));
    const more = await createAtOnce(targetOf(roomy), others, 10, jfk);
    for (const statuses of more.statuses) expect(tally(statuses)).toBe("5 × 201, 5 × 409");
    expect([few.stray, more.stray]).toEqual([0, 0]);
  });

  test("a bounded number of uploads is probed in parallel, however many arrive", async () => {
    await inFolder(async (folder) => {
      const [running, seen] = ["running", "seen"].map((name) => join(folder, name));
      for (const path of [running, seen]) mkdirSync(path ?? "");
      const script = `touch '${running}'/$$; touch '${seen}'/$(ls '${running}' | wc -l); sleep 0.1; rm '${running}'/$$; exit 1`;
      const looking = await fakeFfmpeg(folder, script);
      using server = new ApiServer({ probe: (path) => probeRecording(looking, path) });
      const clients = [1, 2, 3, 4].map((index) => server.client(`account-${index}`));
      const { statuses } = await createAtOnce(targetOf(server), clients, 5, jfk);
      expect(tally(statuses.flat())).toBe("20 × 422");
      const most = Math.max(...(await namesIn(seen ?? "")).map(Number));
      expect(most).toBeWithin(1, 5);
    });
  });

  test("clients that send or read a byte at a time delay no other client, and release their places in the end", async () => {
    using server = new ApiServer();
    const client = server.client("quick");
    const senders = [1, 2, 3].map((index) => server.client(`slow-${index}`));
    const kinds: readonly Slowness[] = ["head", "body", "unauthenticated body", "answer"];
    const slow = Array.from({ length: 60 }, (_, index) => {
      const sender = senders[Math.floor(index / kinds.length) % senders.length] ?? client;
      return slowClient(sender, kinds[index % kinds.length] ?? "head", 100);
    });
    try {
      expect(await becomesTrue(() => server.filesIn("incoming").length === 15)).toBe(true);
      let over = false;
      const polling = poll(client, { clients: 30, everySeconds: 0.5, paths: ["/transcriptions"], isOver: () => over });
      const statuses = [];
      for (let count = 0; count < 5; count++) statuses.push((await client.send(jfk)).status);
      over = true;
      expect(tally(statuses)).toBe("5 × 201");
      const { milliseconds, failures } = await polling;
      expect(milliseconds.length).toBeGreaterThan(10);
      expect(failures).toEqual([]);
      for (const sender of senders) expect((await sender.send(jfk)).status).toBe(409);
    } finally {
      for (const one of slow) one[Symbol.dispose]();
    }
    // A request is logged when it has removed its file, and then released its place.
    const left = () => server.log.filter(({ method, clientClosed }) => method === "POST" && clientClosed === true);
    expect(await becomesTrue(() => left().length === 15)).toBe(true);
    expect(server.filesIn("incoming")).toEqual([]);
    for (const sender of senders) expect((await sender.send(jfk)).status).toBe(201);
  });

  test("truncated uploads leave no file, no recording and no used Idempotency-Key, and use up no quota", async () => {
    using server = new ApiServer({ limits: { creates_per_hour: 5 } });
    const client = server.client("first");
    const random = randomNumbers(3);
    const file = readFileSync(jfk);
    const idempotencyKey = crypto.randomUUID();
    for (let count = 0; count < 20; count++) {
      const keyed = count % 4 === 0 ? { idempotencyKey } : {};
      await cutUpload(client, file, { share: random(), ending: random() < 0.5 ? "end" : "reset", ...keyed });
    }
    // The last requests may not have begun their files yet. Each is logged when it has released its place and its key.
    const ended = () => server.log.filter(({ event, method }) => event === "http.request" && method === "POST");
    expect(await becomesTrue(() => ended().length === 20)).toBe(true);
    expect(server.filesIn("incoming")).toEqual([]);
    expect(server.filesIn("uploads")).toEqual([]);
    expect(JSON.parse(await (await client.fetch("/transcriptions")).text()).data).toEqual([]);
    const form = new FormData();
    form.set("file", Bun.file(jfk), "other.mp3");
    const headers = { "Idempotency-Key": idempotencyKey };
    const statuses = [(await client.fetch("/transcriptions", { method: "POST", body: form, headers })).status];
    for (let count = 0; count < 4; count++) statuses.push((await client.send(jfk)).status);
    expect(tally(statuses)).toBe("5 × 201");
    expect(server.queued).toHaveLength(5);
    expect(server.log.filter(({ event }) => event === "http.unexpected_error")).toEqual([]);
  });
});
