import { and, desc, eq, sql } from "drizzle-orm";
import { type Recording, tables, values, type Writer } from "../database/index.ts";

/** An event of a recording that webhooks receive. */
export type RecordingEvent = (typeof values.recordingEvents)[number];

/**
 * Time that a correction waits, so that the corrections after it become part of the same event. A person who types makes
 * one every few seconds.
 */
const CORRECTION_MILLISECONDS = 10_000;

const { webhookDeliveries, webhooks } = tables;

/** Selects pending deliveries. Only with the literal value can SQLite use their index. */
export const isPending = sql`${webhookDeliveries.state} = 'pending'`;

/**
 * Stores an event for each webhook of the recording's account that receives such events, also for paused ones. Call it
 * in the transaction of the change, so that no crash can lose the event. Transient recordings have no events.
 * @param recording its record after the change
 */
export function announce(writer: Writer, type: RecordingEvent, recording: Recording, now: number): void {
  if (recording.isTransient) return;
  const { id, events } = webhooks;
  const own = writer.select({ id, events }).from(webhooks).where(eq(webhooks.accountId, recording.accountId)).all();
  for (const webhook of own) {
    if (parseEvents(webhook.events).includes(type)) store(writer, webhook.id, type, recording, now);
  }
}

/** Returns the events that a webhook receives. @param stored the JSON of its row */
export function parseEvents(stored: string): RecordingEvent[] {
  const names: unknown = JSON.parse(stored);
  return values.recordingEvents.filter((event) => Array.isArray(names) && names.includes(event));
}

function store(writer: Writer, webhookId: string, type: RecordingEvent, recording: Recording, now: number): void {
  const ofRecording = eq(webhookDeliveries.recordingId, recording.id);
  const before = writer
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.webhookId, webhookId), ofRecording, isPending))
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
