import { and, desc, eq, sql } from "drizzle-orm";
import { type Recording, tables, type values, type Writer } from "../database/index.ts";

/** An event of a recording of which webhooks are told. */
export type RecordingEvent = (typeof values.recordingEvents)[number];

/**
 * Time that a correction waits, so that the corrections after it become part of the same event. A person who types makes
 * one every few seconds.
 */
const CORRECTION_MILLISECONDS = 10_000;

const { webhookDeliveries, webhooks } = tables;

/**
 * Stores an event for each webhook of the recording's account that receives such events, also for paused ones. Call it
 * in the transaction of the change, so that no crash can lose the event. Nobody is told of transient recordings.
 * @param recording its record after the change
 */
export function announce(writer: Writer, type: RecordingEvent, recording: Recording, now: number): void {
  if (recording.isTransient) return;
  const { id, events } = webhooks;
  const own = writer.select({ id, events }).from(webhooks).where(eq(webhooks.accountId, recording.accountId)).all();
  for (const webhook of own) {
    if (wants(webhook.events, type)) store(writer, webhook.id, type, recording, now);
  }
}

function wants(events: string, type: RecordingEvent): boolean {
  const list: unknown = JSON.parse(events);
  return Array.isArray(list) && list.includes(type);
}

function store(writer: Writer, webhookId: string, type: RecordingEvent, recording: Recording, now: number): void {
  const isPending = and(
    eq(webhookDeliveries.webhookId, webhookId),
    eq(webhookDeliveries.recordingId, recording.id),
    // Only with the literal value can SQLite use the index of pending events.
    sql`${webhookDeliveries.state} = 'pending'`,
  );
  const before = writer
    .select()
    .from(webhookDeliveries)
    .where(isPending)
    .orderBy(desc(webhookDeliveries.position))
    .limit(1)
    .get();
  const body = bodyOf(type, recording, now);
  const isCorrection = type === "recording.corrected";
  // An attempt that was begun may have reached the receiver, which ignores another message with the same id.
  if (isCorrection && before?.type === type && before.attempts === 0) {
    writer.update(webhookDeliveries).set({ body }).where(eq(webhookDeliveries.position, before.position)).run();
    return;
  }
  const due = isCorrection ? now + CORRECTION_MILLISECONDS : now;
  writer
    .insert(webhookDeliveries)
    .values({
      ...{ id: Bun.randomUUIDv7(), webhookId, recordingId: recording.id, type, body, state: "pending", createdAt: now },
      dueAt: before === undefined ? due : null,
    })
    .run();
}

/** Returns the JSON of an event: ids and facts, never a name or a spoken text. */
function bodyOf(type: RecordingEvent, recording: Recording, now: number): string {
  const { id, workspaceId, status, failureReason, language, durationSeconds, revision, createdAt } = recording;
  return JSON.stringify({
    type,
    timestamp: new Date(now).toISOString(),
    data: {
      id,
      workspace_id: workspaceId,
      status,
      failure_reason: failureReason,
      language,
      duration_seconds: durationSeconds === null ? null : Math.round(durationSeconds),
      revision,
      created_at: new Date(createdAt).toISOString(),
    },
  });
}
