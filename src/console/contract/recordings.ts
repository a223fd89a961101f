import { type Static, Type } from "@sinclair/typebox";
import { statusList } from "../../http/index.ts";
import { failureReasonSchema, statusSchema } from "../../recordings/index.ts";
import { playbackCopySchema } from "./playback.ts";
import type { Routes } from "./route.ts";
import {
  bytesSchema,
  countSchema,
  cursorSchema,
  limitSchema,
  markSchema,
  namedSchema,
  nullable,
  progressSchema,
  searchText,
  secondsSchema,
  timeSchema,
} from "./shared.ts";

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

/** The state of a speaker's voice, in an account that remembers voices. */
const speakerVoiceSchema = Type.Union([
  /** There is too little clean speech, or the recording was processed before the account opted in. */
  Type.Object({ state: Type.Literal("unclear") }),
  /** The voice can be remembered as soon as the speaker has a name. */
  Type.Object({ state: Type.Literal("new") }),
  /** The speaker resembles a voice, and a user has to confirm that. */
  Type.Object({ state: Type.Literal("proposed"), ...namedSchema.properties }),
  /** The account remembers the voice. */
  Type.Object({ state: Type.Literal("remembered"), ...namedSchema.properties }),
]);
export type SpeakerVoice = Static<typeof speakerVoiceSchema>;

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
    /** Export formats, with the names of the files with the transcript and, if there is one, with the translation. */
    exports: Type.Array(
      Type.Object({
        format: Type.String(),
        file_name: Type.String(),
        translation_file_name: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    playback_copy: playbackCopySchema,
    /** When the audio is removed, and the recording is deleted; null: never, not yet known, or it is held. */
    kept_until: Type.Object({ audio: nullable(timeSchema), recording: nullable(timeSchema) }),
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
    /** Whether there is a translation to English; false unless completed. */
    has_translation: Type.Boolean(),
    /** Whether the recording was a live session, whose words can be compared with the transcript. */
    was_live: Type.Boolean(),
    /** The latest correction by a person; null if the transcript is as recognized. */
    corrected: nullable(Type.Object({ revision: countSchema, author: Type.String(), at: timeSchema })),
  }),
]);
export type RecordingDetail = Static<typeof recordingSchema>;

/** The choices in the form for a new recording, and the accounts by which the list is filtered. */
export const uploadOptionsSchema = Type.Object({
  /**
   * Accounts that may create recordings and that the person sees, by name, with up to 1,000 workspaces each. They take
   * at most 2 MiB, which is enough for some 20,000 accounts.
   */
  accounts: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), workspaces: Type.Array(namedSchema) })),
  /** Languages that the current model accepts, by code. */
  languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  /** Whether the current model can translate to English. */
  translates: Type.Boolean(),
  max_bytes: bytesSchema,
  /** Whether the server fetches links. */
  links: Type.Boolean(),
});
export type UploadOptions = Static<typeof uploadOptionsSchema>;

const ownerId = Type.String({ maxLength: 64 });

/** Lists of recordings, and uploads. */
export const recordingRoutes = {
  uploadOptions: { at: "GET /upload-options", access: "reader", answer: uploadOptionsSchema },
  /**
   * Newest first. `q` selects completed and failed recordings whose name, or one segment of whose transcript, contains
   * all the words. The last word of `q` matches as a prefix. A page of a search may contain fewer than `limit` recordings
   * although more pages follow.
   */
  recordings: {
    at: "GET /recordings",
    access: "reader",
    query: Type.Object({
      status: Type.Optional(statusList),
      account: Type.Optional(ownerId),
      workspace: Type.Optional(ownerId),
      q: Type.Optional(searchText),
      cursor: cursorSchema,
      limit: limitSchema(100, 50),
    }),
    answer: recordingPageSchema,
  },
  /** multipart/form-data: `file` or `url`, and further parts of a create, such as `language` and `task`. */
  createRecording: {
    at: "POST /recordings",
    access: "member",
    query: Type.Object({ account: ownerId, workspace: Type.Optional(ownerId) }),
    body: "form",
    answer: recordingSchema,
    status: 201,
  },
  recording: { at: "GET /recordings/:id", access: "reader", answer: recordingSchema },
  deleteRecording: { at: "DELETE /recordings/:id", access: "member", answer: "nothing" },
} as const satisfies Routes;
