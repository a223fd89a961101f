import { type Static, Type } from "@sinclair/typebox";
import {
  failureReasonSchema,
  type Recording,
  type StoredSegment,
  speakerLabel,
  statusSchema,
  stepSchema,
} from "../transcriptions/index.ts";

/** The public form of a recording. */
export const transcriptionSchema = Type.Object({
  id: Type.String({ format: "uuid" }),
  status: statusSchema,
  title: Type.Union([Type.String(), Type.Null()]),
  language: Type.Union([Type.String(), Type.Null()]),
  duration_seconds: Type.Union([Type.Integer(), Type.Null()]),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  source: Type.Object({
    type: Type.Union([Type.Literal("file"), Type.Literal("url")]),
    name: Type.Union([Type.String(), Type.Null()]),
    url: Type.Union([Type.String(), Type.Null()]),
  }),
  workspace: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()]),
  progress: Type.Object({
    step: Type.Union([stepSchema, Type.Null()]),
    percent: Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Type.Null()]),
    indeterminate: Type.Boolean(),
  }),
  failure_reason: Type.Union([failureReasonSchema, Type.Null()]),
});
export type TranscriptionResource = Static<typeof transcriptionSchema>;

export const segmentSchema = Type.Object({
  index: Type.Integer({ minimum: 0 }),
  start: Type.Number({ minimum: 0 }),
  end: Type.Number({ minimum: 0 }),
  speaker: Type.String({ pattern: "^[A-Z]+$" }),
  text: Type.String({ minLength: 1 }),
});
export type SegmentResource = Static<typeof segmentSchema>;

/** A recording as the list shows it: of its progress the step alone. */
export const listedTranscriptionSchema = Type.Composite([
  Type.Omit(transcriptionSchema, ["progress"]),
  Type.Object({ progress: Type.Pick(transcriptionSchema.properties.progress, ["step"]) }),
]);

export const transcriptionPageSchema = Type.Object({
  data: Type.Array(listedTranscriptionSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.String(),
});

export const segmentPageSchema = Type.Object({
  data: Type.Array(segmentSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.String(),
});

/** ISO 8601 with milliseconds and the offset spelled out. */
function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "+00:00");
}

/** Makes a recording's public form. */
export type ToTranscription = (recording: Recording) => TranscriptionResource;

/** @param workspaceOf looks a workspace up by its id */
export function transcriptionMapper(workspaceOf: (id: string) => { id: string; name: string } | null): ToTranscription {
  return (recording) =>
    toTranscription(recording, recording.workspaceId === null ? null : workspaceOf(recording.workspaceId));
}

function toTranscription(recording: Recording, workspace: { id: string; name: string } | null): TranscriptionResource {
  return {
    id: recording.id,
    status: recording.status,
    title: null,
    language: recording.language,
    duration_seconds: recording.durationSeconds === null ? null : Math.round(recording.durationSeconds),
    created_at: timestamp(recording.createdAt),
    updated_at: timestamp(recording.updatedAt),
    source: {
      type: recording.sourceUrl === null ? "file" : "url",
      name: recording.sourceName,
      url: recording.sourceUrl,
    },
    workspace: workspace === null ? null : { id: workspace.id, name: workspace.name },
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
