import { randomBytes } from "node:crypto";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, count, eq, isNotNull, isNull } from "drizzle-orm";
import { type Account, type Auditor, audit } from "../accounts/index.ts";
import { type AllowList, addressGuard, forbiddenHost, hostOf, mayAllow } from "../addresses/index.ts";
import { parseEvents, type RecordingEvent } from "../announcements/index.ts";
import { deleteSome, type Store, tables, transact, values, type Writer } from "../database/index.ts";
import { ExpectedError } from "../text/index.ts";

/** Failure of an administrative request about webhooks. The message gives the reason and the remedy. */
export class WebhookError extends ExpectedError {
  override readonly name = "WebhookError";
}

type Row = typeof tables.webhooks.$inferSelect;

/** Reason for the pause of a webhook. */
export type PauseReason = NonNullable<Row["pauseReason"]>;

/** An address to which the events of an account are sent, without its secrets. */
export type Webhook = Omit<Row, "events" | "secret" | "formerSecret"> & { readonly events: readonly RecordingEvent[] };

/** Events that a webhook can receive. */
export const { recordingEvents } = values;

/** Number of webhooks that an account can have. */
const MAX_WEBHOOKS = 20;
const MAX_URL_CHARACTERS = 2048;
const SECRET_BYTES = 32;
/** Number of events removed at once, in some milliseconds for which other writers wait. */
const EVENTS_AT_ONCE = 500;

const { webhookDeliveries, webhooks } = tables;
const isIt = (id: string) => eq(webhooks.id, id);

/** Parses the address of a webhook, without its fragment. @throws {WebhookError} when it is none */
export function parseWebhookUrl(text: string): URL {
  const trimmed = text.trim();
  // The URL parser drops control characters and tolerates missing slashes.
  const isUrl = /^https?:\/\/[^/\\]/i.test(trimmed) && !/\p{Cc}/u.test(trimmed) && URL.canParse(trimmed);
  if (!isUrl) throw new WebhookError("this is not an https address, such as https://app.example.org/transcribe");
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "") {
    throw new WebhookError(
      "an address with a user name or password is not accepted; its receiver checks the signature",
    );
  }
  url.hash = "";
  if (url.href.length > MAX_URL_CHARACTERS) {
    throw new WebhookError(`the address is longer than ${MAX_URL_CHARACTERS} characters`);
  }
  return url;
}

/**
 * Requires that something may be sent to an address. A name is resolved, and its addresses are checked, when an event is
 * sent.
 * @param allow non-public hosts and networks; only these may be reached by http
 * @throws {WebhookError} for a forbidden one
 */
export function requirePermitted(url: URL, allow: AllowList): void {
  const host = hostOf(url);
  if (forbiddenHost(addressGuard(allow, new Set()), host) !== null) {
    throw new WebhookError(`${host} is not a public address; webhooks.allow can permit hosts and networks`);
  }
  if (url.protocol === "http:" && !mayAllow(allow, host)) {
    throw new WebhookError("http is only for hosts and networks that webhooks.allow permits; use https");
  }
}

/** Creates a webhook. @returns it with its secret, which is not shown again @throws {WebhookError} */
export function addWebhook(
  store: Store,
  account: Pick<Account, "id" | "name">,
  { url, events }: Pick<Webhook, "url" | "events">,
  by: Auditor,
): { readonly webhook: Webhook; readonly secret: string } {
  const secret = newSecret();
  return transact(store, (writer) => {
    const own = writer.select({ url: webhooks.url }).from(webhooks).where(eq(webhooks.accountId, account.id)).all();
    if (own.some((other) => other.url === url))
      throw new WebhookError(`${account.name} has a webhook with this address`);
    if (own.length >= MAX_WEBHOOKS) throw new WebhookError(`${account.name} has ${MAX_WEBHOOKS} webhooks, the maximum`);
    const row = writer
      .insert(webhooks)
      .values({
        ...{ id: Bun.randomUUIDv7(), accountId: account.id, url, secret },
        ...{ events: JSON.stringify(events), createdAt: by.now, createdBy: by.actor },
      })
      .returning()
      .get();
    const webhook = withoutSecrets(row);
    audit(writer, by, "webhooks.add", webhook.id, { account: account.name, host: new URL(url).host, events });
    return { webhook, secret };
  });
}

/** Returns the webhooks of an account, or all, oldest first. */
export function listWebhooks(store: Store, accountId: string | null): Webhook[] {
  const isOf = accountId === null ? undefined : eq(webhooks.accountId, accountId);
  return store.select().from(webhooks).where(isOf).orderBy(webhooks.id).all().map(withoutSecrets);
}

/** Returns the number of webhooks that are paused. */
export function countPaused(store: Store): number {
  return store.select({ paused: count() }).from(webhooks).where(isNotNull(webhooks.pausedAt)).get()?.paused ?? 0;
}

/** @throws {WebhookError} when there is none with this id */
export function requireWebhook(store: Store, id: string): Webhook {
  return withoutSecrets(requireRow(store, id));
}

/** Returns a webhook with the secrets that sign at a time; null if it is removed. */
export function findSigned(store: Store, id: string, now: number) {
  const row = store.select().from(webhooks).where(isIt(id)).get();
  if (row === undefined) return null;
  const { formerSecret, formerSecretUntil } = row;
  const isFormerValid = formerSecret !== null && formerSecretUntil !== null && formerSecretUntil > now;
  return { webhook: withoutSecrets(row), secrets: [row.secret, ...(isFormerValid ? [formerSecret] : [])] };
}

/**
 * Replaces the secret. Messages are signed with both until the overlap ends.
 * @returns the new secret, which is not shown again
 * @throws {WebhookError} when there is no such webhook
 */
export function rotateSecret(store: Store, id: string, overlapMilliseconds: number, by: Auditor) {
  const secret = newSecret();
  return transact(store, (writer) => {
    const { secret: formerSecret } = requireRow(writer, id);
    const formerSecretUntil = by.now + overlapMilliseconds;
    const change = { secret, formerSecret, formerSecretUntil };
    const row = writer.update(webhooks).set(change).where(isIt(id)).returning().get();
    audit(writer, by, "webhooks.rotate", id, { former_until: new Date(formerSecretUntil).toISOString() });
    return { webhook: withoutSecrets(row), secret };
  });
}

/** Pauses a webhook. Its events are stored meanwhile. @throws {WebhookError} when there is no such webhook */
export function pauseWebhook(store: Store, id: string, by: Auditor): Webhook {
  return transact(store, (writer) => {
    const { pausedAt } = requireRow(writer, id);
    if (pausedAt === null) {
      setPaused(writer, id, "command", by.now);
      audit(writer, by, "webhooks.pause", id, {});
    }
    return withoutSecrets(requireRow(writer, id));
  });
}

/** Pauses a webhook by itself. @returns false if it is paused already, or removed */
export function setPaused(writer: Writer, id: string, reason: PauseReason, now: number): boolean {
  const change = { pausedAt: now, pauseReason: reason };
  const isActive = and(isIt(id), isNull(webhooks.pausedAt));
  return writer.update(webhooks).set(change).where(isActive).returning({ id: webhooks.id }).get() !== undefined;
}

/** Ends a pause. The pending events are sent at once, for up to three days again. @throws {WebhookError} */
export function resumeWebhook(store: Store, id: string, by: Auditor): Webhook {
  return transact(store, (writer) => {
    const { pausedAt } = requireRow(writer, id);
    if (pausedAt !== null) {
      writer.update(webhooks).set({ pausedAt: null, pauseReason: null }).where(isIt(id)).run();
      const isDue = and(eq(webhookDeliveries.webhookId, id), isNotNull(webhookDeliveries.dueAt));
      writer.update(webhookDeliveries).set({ dueAt: by.now, firstAttemptAt: null }).where(isDue).run();
      audit(writer, by, "webhooks.resume", id, {});
    }
    return withoutSecrets(requireRow(writer, id));
  });
}

/**
 * Removes a webhook with its events. Many are removed in batches, between which others may write; the webhook is paused
 * until then.
 * @throws {WebhookError} when there is no such webhook
 */
export async function removeWebhook(store: Store, id: string, by: Auditor): Promise<Webhook> {
  requireRow(store, id);
  setPaused(store, id, "command", by.now);
  const isOf = eq(webhookDeliveries.webhookId, id);
  while (transact(store, (writer) => deleteSome(writer, webhookDeliveries, isOf, EVENTS_AT_ONCE))) {
    await yieldToEventLoop();
  }
  return transact(store, (writer) => {
    const row = requireRow(writer, id);
    writer.delete(webhooks).where(isIt(id)).run();
    audit(writer, by, "webhooks.remove", id, { host: new URL(row.url).host });
    return withoutSecrets(row);
  });
}

function requireRow(reader: Pick<Writer, "select">, id: string): Row {
  const row = reader.select().from(webhooks).where(isIt(id)).get();
  if (row === undefined) throw unknownWebhook(id);
  return row;
}

/** Returns the error for an id that no webhook has. */
export function unknownWebhook(id: string): WebhookError {
  return new WebhookError(`there is no webhook ${id}; list them with: transcribe webhooks list`);
}

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

function withoutSecrets({ events, secret: _, formerSecret: __, ...row }: Row): Webhook {
  return { ...row, events: parseEvents(events) };
}
