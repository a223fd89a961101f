import { type Static, Type } from "@sinclair/typebox";
import { failureReasonSchema, statusSchema } from "../../recordings/index.ts";
import {
  bytesSchema,
  countSchema,
  markSchema,
  namedSchema,
  nullable,
  progressSchema,
  secondsSchema,
  timeSchema,
} from "./shared.ts";

/** A place in a transcript where what was searched for is said. */
const hitSchema = Type.Object({
  segment: countSchema,
  /** Seconds from the beginning. */
  start: secondsSchema,
  /** Part of the segment's text around the first mark; `…` stands where something was left out. */
  text: Type.String(),
  marks: Type.Array(markSchema),
});
export type Hit = Static<typeof hitSchema>;

const listedRecordingSchema = Type.Object({
  id: Type.String(),
  status: statusSchema,
  source: Type.Object({
    /** The uploaded file's name without its extension; null for a link. */
    name: nullable(Type.String()),
    url: nullable(Type.String()),
  }),
  account: namedSchema,
  workspace: nullable(namedSchema),
  language: nullable(Type.String()),
  duration_seconds: nullable(secondsSchema),
  created_at: timeSchema,
  updated_at: timeSchema,
  progress: progressSchema,
  failure: nullable(
    Type.Object({
      reason: failureReasonSchema,
      /** What stands behind `internal`. */
      cause: nullable(Type.String()),
    }),
  ),
  /** An operator keeps it from being deleted. */
  held: Type.Boolean(),
});
export type ListedRecording = Static<typeof listedRecordingSchema>;

/** Found by its words or its name. */
const foundRecordingSchema = Type.Composite([
  listedRecordingSchema,
  Type.Object({
    /** In `source.name`; empty where only what is said was found. */
    name_marks: Type.Array(markSchema),
    /** The first three. */
    hits: Type.Array(hitSchema),
    has_more_hits: Type.Boolean(),
  }),
]);
export type FoundRecording = Static<typeof foundRecordingSchema>;

/**
 * GET recordings?status=&account=&workspace=&q=&cursor=&limit=: newest first. `status` is one or several by comma; `limit`
 * 1–100, default 50. With `q` (1–200 characters) recordings that have ended whose transcript, in one segment, or whose name
 * has all the words, the last one as the beginning of a word; a page of it may hold fewer than `limit` though there are more.
 */
export const recordingPageSchema = Type.Object({
  recordings: Type.Array(Type.Union([foundRecordingSchema, listedRecordingSchema])),
  /** Null on the last page. */
  next_cursor: nullable(Type.String()),
  /** With `q` alone: whether recordings are still being taken into the search, so that more may be found later. */
  is_partial: nullable(Type.Boolean()),
});
export type RecordingPage = Static<typeof recordingPageSchema>;

/** How the copy to listen to stands. */
export const listeningSchema = Type.Object({
  /** `ready`: GET …/audio and …/waveform answer. `none`: the recording is no longer kept, or has not been decoded. */
  state: Type.Union([Type.Literal("ready"), Type.Literal("making"), Type.Literal("none"), Type.Literal("failed")]),
  /** While it is made, where that is known. */
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  /** Why there is none, to be shown as it is; null unless `none` or `failed`. */
  message: nullable(Type.String()),
});
export type Listening = Static<typeof listeningSchema>;

const speakerSchema = Type.Object({
  /** `A`, `B`, …, as in the API. */
  speaker: Type.String(),
  /** What it was renamed to. */
  name: nullable(Type.String()),
  seconds: secondsSchema,
  /** Of all that is said, 0 to 1. */
  share: Type.Number({ minimum: 0, maximum: 1 }),
  segments: countSchema,
});
export type Speaker = Static<typeof speakerSchema>;

/** GET recordings/ID, also the answer to an upload (201). */
export const recordingSchema = Type.Composite([
  listedRecordingSchema,
  Type.Object({
    /** As in the overview; null unless it waits. */
    place: nullable(Type.Integer({ minimum: 1 })),
    trouble: nullable(Type.String()),
    size_bytes: nullable(bytesSchema),
    /** Id of the speech model; null: entered by an early version. */
    model: nullable(Type.String()),
    /** By first appearance; empty unless completed, as are all below. */
    speakers: Type.Array(speakerSchema),
    segments: countSchema,
    /** Words of a lower probability count as doubtful. */
    doubt_below: Type.Number({ minimum: 0, maximum: 1 }),
    /** What it can be saved as, with the name to save it under. */
    exports: Type.Array(Type.Object({ format: Type.String(), file_name: Type.String() })),
    listening: listeningSchema,
  }),
]);
export type RecordingDetail = Static<typeof recordingSchema>;
