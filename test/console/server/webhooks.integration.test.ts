import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Webhook } from "standardwebhooks";
import {
  accountPageSchema,
  addedWebhookSchema,
  overviewSchema,
  webhookListSchema,
} from "../../../src/console/contract/index.ts";
import { tables } from "../../../src/database/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { HookReceiver } from "../../support/hook-receiver.ts";

setDefaultTimeout(60_000);

let server: ConsoleServer;
let operator: Browser;
beforeAll(async () => {
  server = new ConsoleServer();
  operator = await server.operator();
});
afterAll(() => server[Symbol.dispose]());

async function send<T extends TSchema>(schema: T, method: string, path: string, body?: unknown): Promise<Static<T>> {
  const response = await operator.data(path, { method, body: body === undefined ? null : JSON.stringify(body) });
  return Value.Decode(schema, await response.json());
}

test("a webhook is added, tested, paused, resumed and removed, and only the answer to its addition has the secret", async () => {
  await using receiver = await HookReceiver.start();
  const { id } = server.api.account("acme");
  const events = ["recording.completed"];
  const { secret, list } = await send(addedWebhookSchema, "POST", `/accounts/${id}/webhooks`, {
    url: receiver.url,
    events,
  });
  expect(secret).toStartWith("whsec_");
  expect(list).toMatchObject({ account: { name: "acme" }, webhooks: [{ url: receiver.url, events, paused_at: null }] });
  const [webhook] = list.webhooks;
  const path = `/webhooks/${webhook?.id}`;
  expect(await send(webhookListSchema, "POST", `${path}/tests`)).toMatchObject({
    webhooks: [{ deliveries: [{ event: "ping", state: "delivered", status: 204, attempts: 1 }] }],
  });
  expect(receiver.messages.map(({ type }) => type)).toEqual(["ping"]);
  const rotated = await send(addedWebhookSchema, "POST", `${path}/secrets`);
  expect(rotated.secret).toStartWith("whsec_");
  expect(rotated.secret).not.toBe(secret);
  await send(webhookListSchema, "POST", `${path}/tests`);
  const { body = "", headers = {} } = receiver.messages[1] ?? {};
  for (const each of [secret, rotated.secret]) {
    expect(new Webhook(each).verify(body, headers)).toMatchObject({ type: "ping" });
  }
  expect(await send(webhookListSchema, "PUT", path, { paused: true })).toMatchObject({
    webhooks: [{ pause_reason: "command" }],
  });
  expect(await operator.read("/overview", overviewSchema)).toMatchObject({ paused_webhooks: 1 });
  server.api.recordings.complete(server.api.enterProcessing(id), []);
  const shown = await operator.read(`/accounts/${id}/webhooks`, webhookListSchema);
  expect(shown).toMatchObject({ webhooks: [{ pending: 1, deliveries: [{ event: "recording.completed" }, {}, {}] }] });
  expect(JSON.stringify(shown)).not.toContain("whsec_");
  expect(await send(webhookListSchema, "PUT", path, { paused: false })).toMatchObject({
    webhooks: [{ paused_at: null }],
  });
  server.api.store.update(tables.webhooks).set({ pausedAt: Date.now(), pauseReason: "failing" }).run();
  expect(await operator.read(`/accounts/${id}/webhooks`, webhookListSchema)).toMatchObject({
    webhooks: [{ pause_reason: "failing" }],
  });
  expect((await operator.read("/accounts", accountPageSchema)).accounts).toMatchObject([{ name: "acme", webhooks: 1 }]);
  expect(await send(webhookListSchema, "DELETE", path)).toMatchObject({ webhooks: [] });
});

test.each([
  ["https://169.254.169.254/latest", "webhooks.allow"],
  ["http://93.184.215.14/", "use https"],
  ["ftp://app.example.org/", "not an https address"],
  ["https://user:password@app.example.org/", "user name or password"],
])("the address %s is refused with the reason", async (url, reason) => {
  const { id } = server.api.account("acme");
  const body = JSON.stringify({ url, events: ["recording.completed"] });
  const response = await operator.data(`/accounts/${id}/webhooks`, { method: "POST", body });
  expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(reason)]);
});
