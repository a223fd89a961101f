import { type Static, Type } from "@sinclair/typebox";
import { countSchema, markSchema, nullable, secondsSchema } from "./shared.ts";

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
  text: Type.String(),
  words: Type.Array(wordSchema),
});
export type Segment = Static<typeof segmentSchema>;

/**
 * GET recordings/ID/segments?after=&limit=: the segments after index `after`; without it, from the first. `limit` is
 * 1–500, default 200. Long segments are fewer, but at least one: a page holds 2 MiB.
 */
export const segmentPageSchema = Type.Object({
  /** Number of the transcript's latest revision. */
  revision: countSchema,
  segments: Type.Array(segmentSchema),
});
export type SegmentPage = Static<typeof segmentPageSchema>;

/**
 * GET recordings/ID/outline?after=: data of up to 50,000 segments, by segment index, from segment `after` on. The page
 * needs those of all segments before it loads the segments.
 * The page draws the speaker strip, finds the segment at a time, and estimates row heights from it. Start times never
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

/**
 * GET recordings/ID/find?q=&after=&limit=: segments that contain the text, ignoring case and accents. `limit` is
 * 1–1000, default 200. A page holds 2 MiB.
 */
export const findSchema = Type.Object({
  /** `marks` are ranges in the segment's text. */
  matches: Type.Array(Type.Object({ segment: countSchema, start: secondsSchema, marks: Type.Array(markSchema) })),
  /** Number of occurrences in the whole transcript. */
  total: countSchema,
  /** Value of `after` for the next request; null if there are no more matches. */
  next_after: nullable(countSchema),
});
export type Find = Static<typeof findSchema>;

/**
 * GET recordings/ID/waveform?most=&from=&to=: the peaks between two times in seconds; without them, of the whole
 * recording. `most` limits the number of peaks by merging neighbours: 1–20000, default 4000.
 */
export const waveformSchema = Type.Object({
  peaks_per_second: Type.Number({ exclusiveMinimum: 0 }),
  /** Start time of the first peak. */
  start_seconds: secondsSchema,
  /**
   * Base64 with one byte, 0 to 255, for each peak: the square root of the loudest sample's amplitude, drawn as a
   * height.
   */
  peaks: Type.String(),
});
export type Waveform = Static<typeof waveformSchema>;

/**
 * PUT recordings/ID/speakers: names by the numbers of speakers. An empty name removes the given name. The response is the
 * recording.
 */
export const renameSchema = Type.Object(
  { names: Type.Record(Type.String({ pattern: "^(0|[1-9][0-9]{0,6})$" }), Type.String({ maxLength: 100 })) },
  { additionalProperties: false },
);
export type Rename = Static<typeof renameSchema>;
