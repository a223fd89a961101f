import { type Static, Type } from "@sinclair/typebox";
import { recordingSchema } from "./recordings.ts";
import { type Routes, withDefault } from "./route.ts";
import { afterSchema, countSchema, limitSchema, markSchema, nullable, searchText, secondsSchema } from "./shared.ts";

/**
 * A word: from and to in the segment's text, in UTF-16 code units; start and end in seconds; probability from 0 to 1,
 * null when it is not comparable with Whisper's. Words that a person wrote have the probability 1.
 */
const wordSchema = Type.Tuple([countSchema, countSchema, secondsSchema, secondsSchema, nullable(Type.Number())]);
export type Word = Static<typeof wordSchema>;

export const segmentSchema = Type.Object({
  /** Stays the same when segments before it are split or joined. */
  id: countSchema,
  index: countSchema,
  start: secondsSchema,
  end: secondsSchema,
  speaker: Type.String(),
  /** Whether the voice may be another speaker's; false once a person has set or confirmed the speaker. */
  is_speaker_uncertain: Type.Boolean(),
  text: Type.String(),
  words: Type.Array(wordSchema),
});
export type Segment = Static<typeof segmentSchema>;

/** A segment of the translation to English. */
export const translatedSegmentSchema = Type.Object({
  index: countSchema,
  start: secondsSchema,
  /** Zero-based index into `speakers` of the recording. */
  speaker: countSchema,
  text: Type.String(),
});
export type TranslatedSegment = Static<typeof translatedSegmentSchema>;

export const segmentPageSchema = Type.Object({
  /** Number of the transcript's latest revision. */
  revision: countSchema,
  segments: Type.Array(segmentSchema),
});
export type SegmentPage = Static<typeof segmentPageSchema>;

/**
 * Data of segments, by segment index. The page needs those of all segments before it loads the segments. The page draws the speaker strip, finds the segment at a time, and estimates row heights from it. Start times never
 * decrease.
 */
export const outlineSchema = Type.Object({
  /** Number of the transcript's latest revision. */
  revision: countSchema,
  start_milliseconds: Type.Array(countSchema),
  end_milliseconds: Type.Array(countSchema),
  /** Zero-based index into `speakers` of the recording. */
  speaker: Type.Array(countSchema),
  /** Length of the text. */
  characters: Type.Array(countSchema),
  /** Value of `after` for the next request; null if these are the last segments. */
  next_after: nullable(countSchema),
});
export type Outline = Static<typeof outlineSchema>;

export const findSchema = Type.Object({
  /** `marks` are ranges in the segment's text. */
  matches: Type.Array(Type.Object({ segment: countSchema, start: secondsSchema, marks: Type.Array(markSchema) })),
  /** Number of occurrences in the whole transcript. */
  total: countSchema,
  /** Value of `after` for the next request; null if there are no more matches. */
  next_after: nullable(countSchema),
});
export type Find = Static<typeof findSchema>;

/** A transcript, its text search, its speakers' names and its exports. */
export const transcriptRoutes = {
  /** The segments after index `after`, by default from the first. */
  segments: {
    at: "GET /recordings/:id/segments",
    access: "reader",
    query: Type.Object({
      after: withDefault(
        Type.String({ pattern: "^(-1|0|[1-9]\\d{0,8})$", description: "the index of a segment, or -1" }),
        "-1",
      ),
      limit: limitSchema(500, 200),
    }),
    answer: segmentPageSchema,
  },
  /** Up to 50,000 segments, from segment `after` on. */
  outline: {
    at: "GET /recordings/:id/outline",
    access: "reader",
    query: Type.Object({ after: afterSchema }),
    answer: outlineSchema,
  },
  /** The segments from `after` on that contain the text, ignoring case and accents. */
  find: {
    at: "GET /recordings/:id/find",
    access: "reader",
    query: Type.Object({ q: searchText, after: afterSchema, limit: limitSchema(1000, 200) }),
    answer: findSchema,
  },
  /** Names by the numbers of speakers. An empty name removes the given name. */
  nameSpeakers: {
    at: "PUT /recordings/:id/speakers",
    access: "member",
    body: Type.Object(
      { names: Type.Record(Type.String({ pattern: "^(0|[1-9][0-9]{0,6})$" }), Type.String({ maxLength: 100 })) },
      { additionalProperties: false },
    ),
    answer: recordingSchema,
  },
  /** The segments of the translation from index `after` on. */
  translation: {
    at: "GET /recordings/:id/translation",
    access: "reader",
    query: Type.Object({ after: afterSchema, limit: limitSchema(500, 200) }),
    answer: Type.Object({
      segments: Type.Array(translatedSegmentSchema),
      /** Value of `after` for the next request; null if these are the last segments. */
      next_after: nullable(countSchema),
    }),
  },
  /** The transcript or its translation, with the names given to the speakers. */
  exportTranscript: {
    at: "GET /recordings/:id/exports/:format",
    access: "reader",
    query: Type.Object({
      text: withDefault(Type.Union([Type.Literal("transcript"), Type.Literal("translation")]), "transcript"),
    }),
    answer: "file",
  },
} as const satisfies Routes;
