import { expect, test } from "bun:test";
import { createAccount } from "../../../src/accounts/index.ts";
import { openDatabase, tables } from "../../../src/database/index.ts";
import { addWebhook, pauseWebhook, recordingEvents } from "../../../src/webhooks/index.ts";
import { contextOf, runCheck } from "./support.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const by = { actor: "operator", now };
const HOUR = 3_600_000;

function withWebhook() {
  const store = openDatabase(":memory:");
  const account = createAccount(store, "acme", by);
  const { webhook } = addWebhook(store, account, { url: "https://app.example.org/hook", events: recordingEvents }, by);
  /** Adds a pending event. */
  const addEvent = (createdAt: number) => {
    const event = {
      id: Bun.randomUUIDv7(),
      webhookId: webhook.id,
      type: "ping",
      body: "{}",
      state: "pending",
    } as const;
    const attempt = { attempts: 4, lastStatus: 503 };
    store
      .insert(tables.webhookDeliveries)
      .values({ ...event, ...attempt, createdAt, dueAt: now })
      .run();
  };
  return { store, webhook, addEvent, check: () => runCheck("webhooks.delivery", contextOf({}, { database: store })) };
}

test("the check of webhooks accepts one whose events are recent, and one that somebody has paused", async () => {
  const { store, webhook, addEvent, check } = withWebhook();
  addEvent(now - HOUR / 2);
  expect(await check()).toMatchObject({ status: "ok", summary: "1 webhook" });
  addEvent(now - 2 * HOUR);
  pauseWebhook(store, webhook.id, by);
  expect(await check()).toMatchObject({ status: "ok" });
});

test("the check of webhooks reports an event that nobody accepts, and a webhook that has paused by itself", async () => {
  const { store, addEvent, check } = withWebhook();
  addEvent(now - 2 * HOUR);
  expect(await check()).toMatchObject({
    status: "warning",
    summary: "1 webhook gets no events; 1 webhook",
    detail: [
      expect.stringContaining(
        "app.example.org): an event waits since 2026-11-21T10:00:00.000Z, after 4 attempts (status 503)",
      ),
    ],
  });
  for (const [pauseReason, meaning] of [
    ["gone", "answered 410"],
    ["failing", "failed for three days"],
  ] as const) {
    store.update(tables.webhooks).set({ pausedAt: now, pauseReason }).run();
    expect((await check()).detail).toEqual([expect.stringContaining(meaning)]);
  }
});

test("the check of webhooks warns while none may be sent, and is skipped without webhooks", async () => {
  const { store } = withWebhook();
  const off = contextOf({}, { database: store, flags: { "webhooks.enabled": "false" } });
  expect(await runCheck("webhooks.delivery", off)).toMatchObject({ status: "warning" });
  for (const database of [null, openDatabase(":memory:")]) {
    expect(await runCheck("webhooks.delivery", contextOf({}, { database }))).toMatchObject({ status: "skipped" });
  }
});
