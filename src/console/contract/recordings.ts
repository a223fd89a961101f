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
import { speakerVoiceSchema } from "./voices.ts";

/** A place in a transcript that contains the searched words. */
const hitSchema = Type.Object({
  /** Index of the segment. */
  segment: countSchema,
  /** Seconds from the beginning. */
  start: secondsSchema,
  /** Excerpt of the segment's text around the first mark; `…` marks omitted text. */
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
      /** Cause of the reason `internal`. */
      cause: nullable(Type.String()),
    }),
  ),
  /** Whether an operator protects the recording from deletion. */
  held: Type.Boolean(),
});
export type ListedRecording = Static<typeof listedRecordingSchema>;

/** A recording found by its transcript or its name. */
const foundRecordingSchema = Type.Composite([
  listedRecordingSchema,
  Type.Object({
    /** Marks in `source.name`; empty if only the transcript matches. */
    name_marks: Type.Array(markSchema),
    /** The first three hits. */
    hits: Type.Array(hitSchema),
    has_more_hits: Type.Boolean(),
  }),
]);
export type FoundRecording = Static<typeof foundRecordingSchema>;

/**
 * GET recordings?status=&account=&workspace=&q=&cursor=&limit=: newest first. `status` is one value, or several
 * separated by commas. `limit` is 1–100, default 50. `q` (1–200 characters) selects completed and failed recordings
 * whose name, or one segment of whose transcript, contains all the words. The last word of `q` matches as a prefix. A
 * page of a search may contain fewer than `limit` recordings although more pages follow.
 */
export const recordingPageSchema = Type.Object({
  recordings: Type.Array(Type.Union([foundRecordingSchema, listedRecordingSchema])),
  /** Null on the last page. */
  next_cursor: nullable(Type.String()),
  /**
   * Only with `q`: whether recordings are still being added to the search index, so that a later search may find more.
   */
  is_partial: nullable(Type.Boolean()),
});
export type RecordingPage = Static<typeof recordingPageSchema>;

/** Status of the playback copy. */
export const playbackCopySchema = Type.Object({
  /** `ready`: GET …/audio and …/waveform work. `none`: the recording's audio is deleted or has not been decoded. */
  state: Type.Union([Type.Literal("ready"), Type.Literal("making"), Type.Literal("none"), Type.Literal("failed")]),
  /** Progress while the copy is made, if known. */
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  /** Reason why there is no copy, shown to the user unchanged; null unless `none` or `failed`. */
  message: nullable(Type.String()),
});
export type PlaybackCopy = Static<typeof playbackCopySchema>;

const speakerSchema = Type.Object({
  /** Stays the same when people correct the transcript. */
  number: countSchema,
  /** `A`, `B`, …, as in the API. */
  speaker: Type.String(),
  /** Name given by the user. */
  name: nullable(Type.String()),
  /** Null if the recording's account does not remember voices. */
  voice: nullable(speakerVoiceSchema),
  seconds: secondsSchema,
  /** Share of the total speech, 0 to 1. */
  share: Type.Number({ minimum: 0, maximum: 1 }),
  segments: countSchema,
});
export type Speaker = Static<typeof speakerSchema>;

/** GET recordings/ID, and the response to an upload (201). */
export const recordingSchema = Type.Composite([
  listedRecordingSchema,
  Type.Object({
    /** Place in the queue as in the overview; null unless the recording waits. */
    place: nullable(Type.Integer({ minimum: 1 })),
    problem: nullable(Type.String()),
    size_bytes: nullable(bytesSchema),
    /** The transcribed audio track, from 1, and their number; null unless the file has several. */
    audio_track: nullable(Type.Object({ number: countSchema, of: countSchema })),
    /** Id of the speech model; null: an early version created the recording. */
    model: nullable(Type.String()),
    /** Number of parts that each speech model recognized, the model with most parts first. */
    models: Type.Array(Type.Object({ model: Type.String(), parts: countSchema })),
    /** Number of parts that each machine of the fleet computed; empty if the server worked alone. */
    machines: Type.Array(Type.Object({ machine: Type.String(), parts: countSchema })),
    /** Speakers in order of first appearance; empty unless completed, like `segments` and `exports`. */
    speakers: Type.Array(speakerSchema),
    segments: countSchema,
    /** Words with a lower probability are marked as doubtful. */
    doubt_below: Type.Number({ minimum: 0, maximum: 1 }),
    /** Export formats, with the file name for each. */
    exports: Type.Array(Type.Object({ format: Type.String(), file_name: Type.String() })),
    playback_copy: playbackCopySchema,
    /** Its processing again, which is open or has failed; null for none. Its transcript stays as it is until then. */
    processed_again: nullable(
      Type.Composite([
        Type.Pick(listedRecordingSchema, ["status", "progress", "failure"]),
        Type.Object({
          /** Place in the queue; null unless it waits. */
          place: nullable(Type.Integer({ minimum: 1 })),
          problem: nullable(Type.String()),
          model: nullable(Type.String()),
        }),
      ]),
    ),
    /** The latest correction by a person; null if the transcript is as recognized. */
    corrected: nullable(Type.Object({ revision: countSchema, author: Type.String(), at: timeSchema })),
  }),
]);
export type RecordingDetail = Static<typeof recordingSchema>;
