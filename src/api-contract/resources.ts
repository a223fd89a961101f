import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { getWorkspace } from "../accounts/index.ts";
import type { Recording, Store } from "../database/index.ts";
import { toWord, wordSchema } from "../exports/index.ts";
import { failureReasonSchema, statusSchema, stepSchema } from "../recordings/index.ts";
import type { SegmentWithWords, StoredSegment } from "../segments/index.ts";
import { speakerLabel } from "../transcripts/index.ts";

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const failureMeanings: Readonly<Record<Static<typeof failureReasonSchema>, string>> = {
  no_speech: "no speech was found",
  too_short: "less than half a second of audio",
  quota_exceeded: "the account's audio quota of the day was used up when processing was to begin",
  internal: "a fault of the service, a link that could not be fetched, or a recording that is too long",
};

/** Representation of a recording in the API. */
export const transcriptionSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "A UUID of version 7: it sorts by creation." }),
    status: statusSchema,
    title: nullableString("Null in this version."),
    language: nullableString(
      "ISO 639-1 code, or 639-3 if 639-1 has none: the language that was sent, or the detected one. Null until known; if no speech was found, null unless a language was sent.",
    ),
    duration_seconds: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: "Length of the recording, rounded. Null until known.",
    }),
    created_at: Type.String({ format: "date-time", description: "With milliseconds, as UTC with the offset +00:00." }),
    updated_at: Type.String({ format: "date-time", description: "Time of the last change of any field." }),
    source: Type.Object(
      {
        type: Type.Union([Type.Literal("file"), Type.Literal("url")], { description: "How the recording was sent." }),
        name: nullableString("Name of the uploaded file without its extension; null for a link."),
        url: nullableString("The link that was sent, without its fragment; null for an upload."),
      },
      { description: "Origin of the recording." },
    ),
    workspace: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()], {
      description: "The workspace of the key that created the recording; null for none.",
    }),
    progress: Type.Object(
      {
        step: Type.Union([stepSchema, Type.Null()], {
          description: "The current step, as a label to show. Null before processing begins and after it has ended.",
        }),
        percent: Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Type.Null()], {
          description: "Completed part of all steps; it never decreases. Null if it can't be measured.",
        }),
        indeterminate: Type.Boolean({ description: "Whether the current step can't be measured." }),
      },
      { description: "Progress to show to people. Only `status` shows whether processing has ended." },
    ),
    failure_reason: Type.Union([failureReasonSchema, Type.Null()], {
      description: `Null unless \`failed\`. ${Object.entries(failureMeanings)
        .map(([reason, meaning]) => `\`${reason}\`: ${meaning}.`)
        .join(" ")}`,
    }),
  },
  { description: "A recording and its status." },
);
export type TranscriptionResource = Static<typeof transcriptionSchema>;

export const segmentSchema = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: "Position in the transcript, from 0." }),
    start: Type.Number({
      minimum: 0,
      description: "Seconds from the beginning; it never decreases from one segment to the next.",
    }),
    end: Type.Number({ minimum: 0, description: "Seconds from the beginning, after `start`." }),
    speaker: Type.String({
      pattern: "^[A-Z]+$",
      description: "Speaker label: A to Z, then AA and so on, in order of first appearance.",
    }),
    text: Type.String({ minLength: 1, description: "The text, without surrounding space." }),
    words: Type.Optional(
      Type.Array(wordSchema, { description: "The words in their order. Present only with `words=true`." }),
    ),
  },
  { description: "Speech of one speaker without a long pause." },
);
export type SegmentResource = Static<typeof segmentSchema>;

/** Representation of a recording in a list. Its progress contains only the step. */
export const listedTranscriptionSchema = Type.Composite(
  [
    Type.Omit(transcriptionSchema, ["progress"]),
    Type.Object({ progress: Type.Pick(transcriptionSchema.properties.progress, ["step"]) }),
  ],
  { description: "A recording in a list. Its progress contains only the step." },
);

function pageOf<T extends TSchema>(item: T, description: string) {
  return Type.Object(
    {
      data: Type.Array(item),
      has_more: Type.Boolean({ description: "Whether there is a next page." }),
      next_cursor: Type.String({ description: "Send it as `cursor` for the next page. Empty on the last." }),
    },
    { description },
  );
}

export const transcriptionPageSchema = pageOf(listedTranscriptionSchema, "Recordings, newest first.");

export const segmentPageSchema = pageOf(segmentSchema, "Segments in their order.");

export const languageSchema = Type.Object({
  code: Type.String({ description: "ISO 639-1, or 639-3 if 639-1 has none." }),
  name: Type.String({ description: "In English." }),
});

export const languagesSchema = Type.Object({ data: Type.Array(languageSchema) }, { description: "Sorted by code." });

export const aliveSchema = Type.Object({ status: Type.Literal("alive") });
export const readySchema = Type.Object({
  status: Type.Literal("ready"),
  warning: Type.Optional(
    Type.String({ description: "What makes work slow or unreliable, for example a memory limit that is too low" }),
  ),
});

/** Base path of the public API. */
export const basePath = "/api/public/v1";

/** Returns the path of a recording. */
export function locationOf(recordingId: string): string {
  return `${basePath}/transcriptions/${recordingId}`;
}

/** Formats a time in ISO 8601 with milliseconds and the offset +00:00. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "+00:00");
}

/** Returns the representation of a recording in the API. */
export function toTranscription(store: Store, recording: Recording): TranscriptionResource {
  const workspace = recording.workspaceId === null ? null : getWorkspace(store, recording.workspaceId);
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

/** Returns the progress of a recording as it is shown to users. */
export function toProgress({ status, step, percent }: Recording): TranscriptionResource["progress"] {
  if (status === "completed") return { step: null, percent: 100, indeterminate: false };
  if (status === "failed" || step === null) return { step: null, percent: null, indeterminate: false };
  return { step, percent, indeterminate: percent === null };
}

/** Returns the representation of a segment in the API, with its words if they were read. */
export function toSegment({ words, ...segment }: StoredSegment & Partial<SegmentWithWords>): SegmentResource {
  const resource = {
    index: segment.index,
    start: segment.startMilliseconds / 1000,
    end: segment.endMilliseconds / 1000,
    speaker: speakerLabel(segment.speaker),
    text: segment.text,
  };
  if (words === undefined) return resource;
  return { ...resource, words: words.map(toWord) };
}
