import { type Static, t } from "elysia";
import {
  failureReasonSchema,
  type Recording,
  type StoredSegment,
  speakerLabel,
  statusSchema,
  stepSchema,
} from "../transcriptions/index.ts";

/** The public form of a recording. */
export const transcriptionSchema = t.Object({
  id: t.String({ format: "uuid" }),
  status: statusSchema,
  title: t.Union([t.String(), t.Null()]),
  language: t.Union([t.String(), t.Null()]),
  duration_seconds: t.Union([t.Integer(), t.Null()]),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
  source: t.Object({
    type: t.Union([t.Literal("file"), t.Literal("url")]),
    name: t.Union([t.String(), t.Null()]),
    url: t.Union([t.String(), t.Null()]),
  }),
  workspace: t.Union([t.Object({ id: t.String(), name: t.String() }), t.Null()]),
  progress: t.Object({
    step: t.Union([stepSchema, t.Null()]),
    percent: t.Union([t.Integer({ minimum: 0, maximum: 100 }), t.Null()]),
    indeterminate: t.Boolean(),
  }),
  failure_reason: t.Union([failureReasonSchema, t.Null()]),
});
export type TranscriptionResource = Static<typeof transcriptionSchema>;

export const segmentSchema = t.Object({
  index: t.Integer({ minimum: 0 }),
  start: t.Number({ minimum: 0 }),
  end: t.Number({ minimum: 0 }),
  speaker: t.String({ pattern: "^[A-Z]+$" }),
  text: t.String({ minLength: 1 }),
});
export type SegmentResource = Static<typeof segmentSchema>;

export const segmentPageSchema = t.Object({
  data: t.Array(segmentSchema),
  has_more: t.Boolean(),
  next_cursor: t.String(),
});

/** ISO 8601 with milliseconds and the offset spelled out. */
function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "+00:00");
}

export function toTranscription(recording: Recording): TranscriptionResource {
  return {
    id: recording.id,
    status: recording.status,
    title: null,
    language: recording.language,
    duration_seconds: recording.durationSeconds === null ? null : Math.round(recording.durationSeconds),
    created_at: timestamp(recording.createdAt),
    updated_at: timestamp(recording.updatedAt),
    source: { type: "file", name: recording.sourceName, url: null },
    workspace: null,
    progress: toProgress(recording),
    failure_reason: recording.failureReason,
  };
}

function toProgress({ status, step, percent }: Recording): TranscriptionResource["progress"] {
  if (status === "completed") return { step: null, percent: 100, indeterminate: false };
  if (status === "failed" || step === null) return { step: null, percent: null, indeterminate: false };
  return { step, percent, indeterminate: percent === null };
}

export function toSegment(segment: StoredSegment): SegmentResource {
  return {
    index: segment.index,
    start: segment.startMilliseconds / 1000,
    end: segment.endMilliseconds / 1000,
    speaker: speakerLabel(segment.speaker),
    text: segment.text,
  };
}
