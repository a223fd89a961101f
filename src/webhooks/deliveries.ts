import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, count, desc, eq, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import { isPending } from "../announcements/index.ts";
import { deferSync, preparedFor, type Store, tables, transact, type Writer } from "../database/index.ts";
import type { Attempt } from "./post.ts";

const { webhookDeliveries: deliveries, webhooks } = tables;

/** An event for one webhook. */
export type Delivery = typeof deliveries.$inferSelect;

/** Finished deliveries that are stored for each webhook, and for how long. */
const MAX_FINISHED = 10_000;
const MAX_AGE_MILLISECONDS = 30 * 86_400_000;
/** Pending deliveries that are stored for each webhook, about 50 MB. */
const MAX_PENDING = 100_000;
const ROWS_AT_ONCE = 500;

const due = preparedFor((store) =>
  store
    .select({ position: deliveries.position })
    .from(deliveries)
    .innerJoin(webhooks, and(eq(webhooks.id, deliveries.webhookId), isNull(webhooks.pausedAt)))
    .where(and(eq(deliveries.webhookId, sql.placeholder("webhookId")), lte(deliveries.dueAt, sql.placeholder("now"))))
    .orderBy(asc(deliveries.dueAt), asc(deliveries.position))
    .limit(sql.placeholder("most"))
    .prepare(),
);

/** Returns positions of deliveries that are due, those that are due longest first; none while the webhook is paused. */
export function dueDeliveries(store: Store, webhookId: string, now: number, most: number): number[] {
  return due(store)
    .all({ webhookId, now, most })
    .map(({ position }) => position);
}

/** Returns the ids of the webhooks that are not paused. */
export const activeWebhooks = preparedFor((store) =>
  store.select({ id: webhooks.id }).from(webhooks).where(isNull(webhooks.pausedAt)).orderBy(webhooks.id).prepare(),
);

/**
 * Counts attempts that begin now. It waits for the disk: once a message may have reached the receiver, its body stays the
 * same, also after a power cut.
 */
export function beginAttempts(store: Store, positions: readonly number[], now: number): Delivery[] {
  return transact(store, (writer) =>
    writer
      .update(deliveries)
      .set({
        attempts: sql`${deliveries.attempts} + 1`,
        firstAttemptAt: sql`coalesce(${deliveries.firstAttemptAt}, ${now})`,
        lastAttemptAt: now,
      })
      .where(and(inArray(deliveries.position, [...positions]), isPending))
      .returning()
      .all(),
  );
}

/** Stores that a delivery has reached its receiver. The next event of its recording becomes due. */
export function storeDelivered(store: Store, delivery: Delivery, attempt: Attempt, now: number): void {
  const change = { ...outcomeOf(attempt), state: "delivered", dueAt: null, deliveredAt: now } as const;
  deferSync(store, () =>
    transact(store, (writer) => {
      writer.update(deliveries).set(change).where(eq(deliveries.position, delivery.position)).run();
      makeNextDue(writer, delivery, now);
    }),
  );
}

/** Stores that an attempt has failed, and when the next one may begin. */
export function storeFailed(store: Store, { position }: Delivery, attempt: Attempt, dueAt: number): void {
  const change = { ...outcomeOf(attempt), dueAt };
  const isIt = and(eq(deliveries.position, position), isPending);
  deferSync(store, () => store.update(deliveries).set(change).where(isIt).run());
}

function outcomeOf({ status, fault, milliseconds }: Attempt) {
  return { lastStatus: status, lastFault: fault, lastMilliseconds: milliseconds };
}

function makeNextDue(writer: Writer, { webhookId, recordingId }: Delivery, now: number): void {
  if (recordingId === null) return;
  const next = writer
    .select({ position: deliveries.position })
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), eq(deliveries.recordingId, recordingId), isPending))
    .orderBy(asc(deliveries.position))
    .limit(1)
    .get();
  if (next === undefined) return;
  writer
    .update(deliveries)
    .set({ dueAt: now })
    .where(and(eq(deliveries.position, next.position), isNull(deliveries.dueAt)))
    .run();
}

/** Makes all deliveries due that wait for their next attempt, because the receiver answers again. */
export function makeAllDue(store: Store, webhookId: string, now: number): void {
  const waits = and(eq(deliveries.webhookId, webhookId), sql`${deliveries.dueAt} > ${now}`);
  deferSync(store, () => store.update(deliveries).set({ dueAt: now }).where(waits).run());
}

/** Stores the result of a test, which is not repeated. */
export function storeTest(
  store: Store,
  test: Pick<Delivery, "id" | "webhookId" | "body">,
  attempt: Attempt,
  now: number,
): Delivery {
  const isDelivered = attempt.fault === null;
  return store
    .insert(deliveries)
    .values({
      ...{ ...test, ...outcomeOf(attempt), type: "ping", createdAt: now, attempts: 1 },
      ...{ state: isDelivered ? "delivered" : "failed", deliveredAt: isDelivered ? now : null },
      ...{ firstAttemptAt: now, lastAttemptAt: now },
    })
    .returning()
    .get();
}

/** Returns the latest deliveries of a webhook, newest first. */
export function listDeliveries(store: Store, webhookId: string, limit: number): Delivery[] {
  const isOf = eq(deliveries.webhookId, webhookId);
  return store.select().from(deliveries).where(isOf).orderBy(desc(deliveries.position)).limit(limit).all();
}

/** Returns the pending delivery of a webhook that waits longest; null for none. */
export function oldestPending(store: Store, webhookId: string): Delivery | null {
  const isOf = and(eq(deliveries.webhookId, webhookId), isPending);
  return store.select().from(deliveries).where(isOf).orderBy(asc(deliveries.position)).limit(1).get() ?? null;
}

/** Returns the number of pending deliveries of a webhook, or of all. */
export function countPending(store: Store, webhookId: string | null = null): number {
  const isOf = webhookId === null ? undefined : eq(deliveries.webhookId, webhookId);
  return store.select({ pending: count() }).from(deliveries).where(and(isOf, isPending)).get()?.pending ?? 0;
}

/**
 * Deletes deliveries beyond the limits, in batches between which others may write.
 * @returns the number of pending ones that are lost, because a receiver has failed for too long
 */
export async function trimDeliveries(store: Store, now: number): Promise<number> {
  let lost = 0;
  for (const { id } of store.select({ id: webhooks.id }).from(webhooks).all()) {
    lost += await removeOld(store, id, isPending, MAX_PENDING, now);
    await removeOld(store, id, sql`${deliveries.state} <> 'pending'`, MAX_FINISHED, now);
  }
  return lost;
}

/** @returns the number of deliveries that it has removed */
async function removeOld(store: Store, webhookId: string, isKind: SQL, most: number, now: number): Promise<number> {
  const isOf = and(eq(deliveries.webhookId, webhookId), isKind);
  for (let removed = 0; ; ) {
    const some = transact(store, (writer) => removeSomeOld(writer, isOf, most, now));
    removed += some;
    if (some < ROWS_AT_ONCE) return removed;
    await yieldToEventLoop();
  }
}

function removeSomeOld(writer: Writer, isOf: SQL | undefined, most: number, now: number): number {
  const { position } = deliveries;
  const newest = writer.select({ position }).from(deliveries).where(isOf).orderBy(desc(position));
  const last = newest.limit(1).offset(most).get()?.position ?? 0;
  const isOld = sql`(${position} <= ${last} OR ${deliveries.createdAt} < ${now - MAX_AGE_MILLISECONDS})`;
  const old = writer.select().from(deliveries).where(and(isOf, isOld)).orderBy(position).limit(ROWS_AT_ONCE).all();
  const positions = old.map((row) => row.position);
  writer.delete(deliveries).where(inArray(position, positions)).run();
  for (const row of old) if (row.state === "pending") makeNextDue(writer, row, now);
  return old.length;
}
