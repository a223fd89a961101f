import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { tables } from "../../src/database/index.ts";
import {
  listWebhooks,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
  rotateSecret,
  sendTest,
  trimDeliveries,
} from "../../src/webhooks/index.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { HookReceiver, type Message } from "../support/hook-receiver.ts";
import { HookBench } from "./support.ts";

setDefaultTimeout(30_000);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let bench: HookBench;
let receiver: HookReceiver;

beforeEach(async () => {
  bench = new HookBench();
  receiver = await HookReceiver.start();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const by = () => ({ actor: "operator", now: bench.now });
const status = (code: number, headers: Record<string, string> = {}) => {
  receiver.answer = (_, response) => void response.writeHead(code, headers).end();
};
const [onlyState, lastFault] = [
  () => bench.deliveries().map(({ state }) => state),
  () => bench.deliveries().map((delivery) => delivery.lastFault),
];

test("an event is sent once, signed so that the verifier of Standard Webhooks accepts it", async () => {
  const { secret } = bench.add(receiver.url);
  const id = bench.complete();
  await bench.send();
  await bench.send();
  expect(receiver.messages).toHaveLength(1);
  const [message] = receiver.messages;
  expect(new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({
    type: "recording.completed",
    data: { id, status: "completed" },
  });
  expect(message?.headers).toMatchObject({ "content-type": "application/json", "user-agent": "transcribe/test" });
  expect(bench.deliveries()).toMatchObject([
    { id: message?.id, state: "delivered", attempts: 1, lastStatus: 204, lastFault: null, deliveredAt: bench.now },
  ]);
  expect(bench.deliveries()[0]?.lastMilliseconds).toBeGreaterThanOrEqual(0);
});

test("the log has neither the secret nor the path of the address", async () => {
  const { secret } = bench.add(`${receiver.url}?token=abc`);
  bench.complete();
  status(500);
  await bench.send();
  const log = bench.lines.join();
  expect(log).toContain("webhook.failed");
  for (const hidden of [secret, "token", "hook?"]) expect(log).not.toContain(hidden);
});

test("after a rotation either secret verifies until the overlap ends, and then the new one alone", async () => {
  const { secret, webhook } = bench.add(receiver.url);
  const next = rotateSecret(bench.store, webhook.id, HOUR, by()).secret;
  bench.complete();
  await bench.send();
  bench.complete();
  await bench.pass(2 * MINUTE);
  bench.now += HOUR;
  bench.complete();
  await bench.send();
  const verifies = (key: string, { body, headers }: Message) => {
    const time = Number(headers["webhook-timestamp"]) * 1000;
    const signature = new Webhook(key).sign(headers["webhook-id"] ?? "", new Date(time), body);
    return (headers["webhook-signature"] ?? "").split(" ").includes(signature);
  };
  expect(receiver.messages.map((message) => [verifies(secret, message), verifies(next, message)])).toEqual([
    [true, true],
    [true, true],
    [false, true],
  ]);
});

describe("the order of events", () => {
  test("is kept for each recording, also when the first one fails", async () => {
    bench.add(receiver.url);
    const first = bench.complete();
    bench.shelf.recordings.delete(first);
    const second = bench.complete();
    receiver.answer = ({ recordingId, type }, response) => {
      const fails = recordingId === first && type === "recording.completed";
      response.writeHead(fails ? 500 : 204).end();
    };
    await bench.send();
    expect(receiver.messages.map(({ recordingId }) => recordingId).sort()).toEqual([first, second].sort());
    receiver.answer = (_, response) => void response.writeHead(204).end();
    await bench.pass(6_000);
    const ofFirst = receiver.messages.filter(({ recordingId }) => recordingId === first);
    expect(ofFirst.map(({ type }) => type)).toEqual([
      "recording.completed",
      "recording.completed",
      "recording.deleted",
    ]);
    expect(ofFirst[0]?.id).toBe(ofFirst[1]?.id ?? "");
    expect(ofFirst[0]?.body).toBe(ofFirst[1]?.body ?? "");
  });
});

test("a receiver that does not answer delays no other, and gets at most four messages at once", async () => {
  await using fast = await HookReceiver.start();
  bench.add(receiver.url);
  bench.add(fast.url);
  const held: (() => void)[] = [];
  receiver.answer = (_, response) => void held.push(() => response.writeHead(204).end());
  const ids = Array.from({ length: 40 }, () => bench.complete());
  bench.dispatcher.look();
  await fast.until((messages) => messages.length === 40);
  await receiver.until((messages) => messages.length === 4);
  expect(new Set(fast.messages.map(({ recordingId }) => recordingId))).toEqual(new Set(ids));
  expect(receiver.messages).toHaveLength(4);
  receiver.answer = (_, response) => void response.writeHead(204).end();
  for (const answer of held) answer();
  await receiver.until((messages) => messages.length === 40);
});

test("a receiver that is too slow has failed", async () => {
  bench = new HookBench({ network: { timeoutMilliseconds: 50 } });
  bench.add(receiver.url);
  receiver.answer = () => {};
  bench.complete();
  await bench.send();
  expect(bench.deliveries()).toMatchObject([{ state: "pending", lastStatus: null, lastFault: "timed_out" }]);
});

test("an answer whose body never ends counts by its status, and its connection is closed", async () => {
  bench.add(receiver.url);
  const closed = Promise.withResolvers<void>();
  receiver.answer = (_, response) => {
    response.on("close", closed.resolve);
    response.writeHead(200);
    const more = () => response.write("x".repeat(1000), () => response.destroyed || setImmediate(more));
    more();
  };
  bench.complete();
  await bench.send();
  expect(onlyState()).toEqual(["delivered"]);
  await closed.promise;
});

describe("an answer", () => {
  test.each([
    [302, "redirected"],
    [304, "redirected"],
    [400, "refused"],
    [500, "refused"],
  ] as const)("with status %d is a failure", async (code, fault) => {
    await using other = await HookReceiver.start();
    bench.add(receiver.url);
    status(code, { location: other.url });
    bench.complete();
    await bench.send();
    expect(bench.deliveries()).toMatchObject([{ state: "pending", lastStatus: code, lastFault: fault }]);
    expect(other.messages).toEqual([]);
  });

  test("with status 410 pauses the webhook at once, and its events are stored meanwhile", async () => {
    const { webhook } = bench.add(receiver.url);
    status(410);
    bench.complete();
    await bench.send();
    expect(listWebhooks(bench.store, null)).toMatchObject([{ pauseReason: "gone", pausedAt: bench.now }]);
    expect(bench.lines.join()).toContain('"event":"webhook.paused"');
    bench.complete();
    status(204);
    await bench.pass(DAY);
    expect(receiver.messages).toHaveLength(1);
    resumeWebhook(bench.store, webhook.id, by());
    await bench.send();
    expect(onlyState()).toEqual(["delivered", "delivered"]);
  });

  test("with Retry-After delays the next attempt", async () => {
    bench.add(receiver.url);
    status(429, { "retry-after": "600" });
    bench.complete();
    await bench.send();
    await bench.pass(9 * MINUTE);
    expect(receiver.messages).toHaveLength(1);
    await bench.pass(2 * MINUTE);
    expect(receiver.messages).toHaveLength(2);
  });
});

test("a receiver that fails for three days is paused, and resuming sends what is pending, with the same id", async () => {
  const { webhook } = bench.add(receiver.url);
  status(503);
  bench.complete();
  const start = bench.now;
  while (bench.now < start + 3 * DAY) await bench.pass(HOUR / 2);
  expect(listWebhooks(bench.store, null)).toMatchObject([{ pauseReason: null }]);
  for (let hours = 0; hours < 4; hours++) await bench.pass(HOUR);
  expect(listWebhooks(bench.store, null)).toMatchObject([{ pauseReason: "failing" }]);
  const attempts = receiver.messages.length;
  expect(attempts).toBeGreaterThan(20);
  expect(attempts).toBeLessThan(40);
  await bench.pass(DAY);
  expect(receiver.messages).toHaveLength(attempts);
  status(200);
  resumeWebhook(bench.store, webhook.id, by());
  await bench.send();
  expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(1);
  expect(onlyState()).toEqual(["delivered"]);
});

test("a receiver that is down gets few attempts, and everything as soon as it answers again", async () => {
  bench.add(receiver.url);
  status(500);
  for (let events = 0; events < 200; events++) bench.complete();
  for (let minutes = 0; minutes < 60; minutes++) await bench.pass(MINUTE);
  expect(receiver.messages.length).toBeLessThan(20);
  status(200);
  await bench.pass(11 * MINUTE);
  expect(new Set(onlyState())).toEqual(new Set(["delivered"]));
});

test("nothing is sent while a command has paused the webhook, or the setting is off", async () => {
  let isEnabled = false;
  bench = new HookBench({ isEnabled: () => isEnabled });
  const { webhook } = bench.add(receiver.url);
  bench.complete();
  await bench.send();
  isEnabled = true;
  pauseWebhook(bench.store, webhook.id, by());
  await bench.send();
  expect(receiver.messages).toEqual([]);
  resumeWebhook(bench.store, webhook.id, by());
  await bench.send();
  expect(receiver.messages).toHaveLength(1);
});

describe("the address of a receiver", () => {
  const cases = [
    ["a private address that is not listed", [], "http://127.0.0.1:9/", "blocked"],
    ["a name of a private address that is not listed", [], "http://hook.example.org:9/", "blocked"],
    ["a public address by http", [], "http://93.184.215.14/", "blocked"],
    [
      "the cloud's address of credentials, by a listed name",
      ["metadata.example.org"],
      "http://metadata.example.org/",
      "blocked",
    ],
    ["a name that does not resolve", [], "https://nowhere.example.org/", "unresolved"],
    ["a port where nothing listens", ["127.0.0.0/8"], "http://127.0.0.1:9/", "unreachable"],
    ["a listed name whose port is closed", ["hook.example.org"], "http://hook.example.org:9/", "unreachable"],
    ["a receiver without TLS behind an https address", ["127.0.0.0/8"], "https://127.0.0.1:PORT/", null],
  ] as const;
  const addresses: Readonly<Record<string, string>> = {
    "hook.example.org": "127.0.0.1",
    "metadata.example.org": "169.254.169.254",
  };

  test.each(cases)("is checked: %s", async (_, allow, url, fault) => {
    bench = new HookBench({
      allow: () => parseAllowList(allow),
      network: {
        async resolve(host) {
          const address = addresses[host];
          if (address === undefined) throw new Error("no such name");
          return [address];
        },
      },
    });
    bench.add(url.replace("PORT", new URL(receiver.url).port));
    bench.complete();
    await bench.send();
    if (fault === null) expect(["insecure", "unreachable"]).toContain(lastFault()[0] ?? "none");
    else expect(lastFault()).toEqual([fault]);
    expect(receiver.messages).toEqual([]);
  });

  test("may be a private one that the setting lists by name", async () => {
    const resolve = async () => ["127.0.0.1"];
    bench = new HookBench({ allow: () => parseAllowList(["*.example.org"]), network: { resolve } });
    bench.add(receiver.url.replace("127.0.0.1", "hook.example.org"));
    bench.complete();
    await bench.send();
    expect(onlyState()).toEqual(["delivered"]);
    expect(receiver.messages[0]?.headers.host).toStartWith("hook.example.org:");
  });
});

test.skipIf(!canMakeCertificates("webhooks with TLS"))(
  "a receiver with TLS needs a certificate of its name that a known authority has signed",
  async () => {
    using directory = temporaryDirectory();
    const { certificate: cert, key } = makeCertificate(directory.path, "hook");
    const got: string[] = [];
    const server = createServer({ cert, key }, (request, response) => {
      got.push(request.method ?? "");
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const allow = () => parseAllowList(["*.test"]);
    const resolve = async () => ["127.0.0.1"];
    const faults: (string | null)[] = [];
    for (const [host, authorities] of [
      ["hook.test", undefined],
      ["other.test", [cert]],
      ["hook.test", [cert]],
    ] as const) {
      await using one = new HookBench({ allow, network: { resolve, authorities } });
      one.add(`https://${host}:${port}/`);
      one.complete();
      await one.send();
      faults.push(one.deliveries()[0]?.lastFault ?? null);
    }
    expect(faults).toEqual(["insecure", "insecure", null]);
    expect(got).toEqual(["POST"]);
  },
);

test("a test sends a ping once, also to a paused webhook, and stores the result", async () => {
  const { webhook, secret } = bench.add(receiver.url);
  pauseWebhook(bench.store, webhook.id, by());
  const options = { allow: parseAllowList(["127.0.0.0/8"]), userAgent: "transcribe/test", now: () => bench.now };
  expect(await sendTest(bench.store, webhook.id, options)).toMatchObject({ state: "delivered", lastStatus: 204 });
  const [message] = receiver.messages;
  expect(new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({ type: "ping" });
  status(500);
  expect(await sendTest(bench.store, webhook.id, options)).toMatchObject({ state: "failed", lastStatus: 500 });
  resumeWebhook(bench.store, webhook.id, by());
  await bench.pass(DAY);
  expect(receiver.messages).toHaveLength(2);
});

test("delivered events are forgotten after thirty days, and pending ones are then lost, which is reported", async () => {
  bench.add(receiver.url);
  bench.complete();
  await bench.send();
  status(500);
  const id = bench.complete();
  bench.shelf.recordings.delete(id);
  await bench.send();
  expect(await trimDeliveries(bench.store, bench.now + 29 * DAY)).toBe(0);
  expect(bench.deliveries()).toHaveLength(3);
  expect(await trimDeliveries(bench.store, bench.now + 31 * DAY)).toBe(2);
  expect(bench.deliveries()).toEqual([]);
});

test("many old events are removed in batches, between which others may write", async () => {
  const { webhook } = bench.add(receiver.url);
  const old = {
    webhookId: webhook.id,
    type: "ping",
    body: "{}",
    createdAt: bench.now - 31 * DAY,
    state: "failed",
  } as const;
  const rows = Array.from({ length: 2_600 }, () => ({ ...old, id: Bun.randomUUIDv7() }));
  bench.store.insert(tables.webhookDeliveries).values(rows).run();
  expect(await countTurnsUntilSettled(trimDeliveries(bench.store, bench.now))).toBeGreaterThanOrEqual(4);
  expect(bench.deliveries()).toEqual([]);
});

test("a webhook with many events is removed in batches, and gets nothing meanwhile", async () => {
  const { webhook } = bench.add(receiver.url);
  const pending = { webhookId: webhook.id, type: "recording.completed", body: "{}", createdAt: bench.now } as const;
  const rows = Array.from({ length: 2_600 }, () => ({
    ...{ ...pending, id: Bun.randomUUIDv7(), recordingId: Bun.randomUUIDv7() },
    ...({ state: "pending", dueAt: bench.now } as const),
  }));
  bench.store.insert(tables.webhookDeliveries).values(rows).run();
  const turns = await countTurnsUntilSettled(removeWebhook(bench.store, webhook.id, by()), () =>
    bench.dispatcher.look(),
  );
  expect(turns).toBeGreaterThanOrEqual(4);
  expect([listWebhooks(bench.store, null), bench.deliveries(), receiver.messages]).toEqual([[], [], []]);
});

test("a removed webhook gets nothing more, and what is being sent is not stored", async () => {
  const { webhook } = bench.add(receiver.url);
  receiver.answer = (_, response) => {
    if (listWebhooks(bench.store, null).length > 0) void removeWebhook(bench.store, webhook.id, by());
    response.writeHead(204).end();
  };
  bench.complete();
  bench.complete();
  await bench.send();
  await bench.pass(DAY);
  expect(bench.deliveries()).toEqual([]);
  expect(bench.lines.join()).not.toContain("dispatch_failed");
});
