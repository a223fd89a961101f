import { expect, setDefaultTimeout, test } from "bun:test";
import { renameSync } from "node:fs";
import { samplePath } from "../../harness/checkout.ts";
import { openDatabase } from "../../src/database/index.ts";
import { TestSocket } from "../support/test-socket.ts";
import { exitCodeOf, FencedPair } from "./fenced-pair.ts";

setDefaultTimeout(60_000);

const recordingsIn = (directory: string) => {
  const store = openDatabase(`${directory}/transcribe.db`);
  try {
    return store.$client.query("SELECT id, status FROM recordings").all();
  } finally {
    store.$client.close();
  }
};

test.concurrent("a server that can't renew its lease pauses: it answers probes alone, and continues when it can", async () => {
  await using pair = FencedPair.byFolder({ TRANSCRIBE_LIVE_SESSIONS: "1" });
  const { first, folder } = pair;
  await first.start(false);
  const client = first.client("acme");
  const created = await client.create(samplePath("sample.wav"));
  const headers = { authorization: `Bearer ${client.key}` };
  const live = () => TestSocket.open(`${client.baseUrl.replace("http", "ws")}/live?language=en`, { headers });
  using socket = await live();
  const ask = (path: string) => fetch(first.origin + path);
  renameSync(folder, `${folder}-away`);
  await first.until(() => first.log.some(({ event }) => event === "standby.lease_lapsed"));
  const before = recordingsIn(first.dataDirectory);
  // A connection that was open is closed, and no new one is accepted.
  await socket.closed;
  await expect(live()).rejects.toThrow();
  const [get, create, console, ready, alive, metrics] = await Promise.all([
    client.fetch(`/transcriptions/${created.id}`),
    client.send(samplePath("sample.wav")),
    ask("/docs"),
    ask("/readyz"),
    ask("/healthz"),
    ask("/metrics"),
  ]);
  expect([get.status, create.status, console.status, ready.status, alive.status]).toEqual([503, 503, 503, 503, 200]);
  expect(await get.json()).toMatchObject({
    error: "service_unavailable",
    message: "This server may not answer now: it can't renew its lease, so another server may have taken over.",
  });
  expect(get.headers.get("retry-after")).toBe("5");
  expect(await metrics.text()).toMatch(/^transcribe_lease_remaining_seconds 0$/m);
  expect(recordingsIn(first.dataDirectory)).toEqual(before);
  renameSync(`${folder}-away`, folder);
  await first.until(async () => (await client.fetch(`/transcriptions/${created.id}`)).status === 200);
  expect((await client.send(samplePath("sample.wav"))).status).toBe(201);
  // What waited for the lease is processed.
  expect((await client.waitUntilEnded(created.id)).status).toBe("completed");
});

test.concurrent("a server that still serves is ended by a forced takeover, and force returns to it", async () => {
  await using pair = FencedPair.byFolder();
  const { first, second } = pair;
  await first.start(false);
  first.client("acme");
  await first.stop();
  pair.copy();
  // A server that has stopped in order has released its lease.
  await first.restartOnSamePort();
  const [promoted, exitCode] = await Promise.all([second.cli("promote", "--force", "--json"), exitCodeOf(first)]);
  expect([JSON.parse(promoted.stdout).epoch, exitCode]).toEqual([2, 6]);
  const refused = await first.cli("promote");
  expect([refused.exitCode, refused.stderr]).toEqual([6, expect.stringContaining("transcribe promote --force")]);
  const back = await first.cli("promote", "--force", "--json");
  expect(JSON.parse(back.stdout)).toMatchObject({ promoted: true, epoch: 3, from: null });
  await first.restartOnSamePort();
  expect((await fetch(`${first.origin}/healthz`)).status).toBe(200);
  await expect(second.start(false)).rejects.toThrow("exited with 6");
});
