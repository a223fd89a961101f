import type { Store } from "../database/index.ts";
import { type Delivery, storeTest } from "./deliveries.ts";
import { type PostOptions, post } from "./post.ts";
import { signedHeaders } from "./signature.ts";
import { findSigned, unknownWebhook } from "./webhooks.ts";

/**
 * Sends the event `ping` to a webhook, also to a paused one, and stores the result. It is not repeated.
 * @throws {WebhookError} when there is no such webhook
 */
export async function sendTest(store: Store, webhookId: string, options: PostOptions): Promise<Delivery> {
  const now = options.now();
  const signed = findSigned(store, webhookId, now);
  if (signed === null) throw unknownWebhook(webhookId);
  const id = Bun.randomUUIDv7();
  const body = JSON.stringify({ type: "ping", timestamp: new Date(now).toISOString(), data: {} });
  const headers = signedHeaders(id, body, signed.secrets, now);
  const attempt = await post(new URL(signed.webhook.url), body, headers, options, new AbortController().signal);
  return storeTest(store, { id, webhookId, body }, attempt, now);
}
