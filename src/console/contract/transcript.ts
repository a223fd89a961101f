import { type Static, Type } from "@sinclair/typebox";
import { countSchema, markSchema, nullable, secondsSchema } from "./shared.ts";

/** From and to in the segment's text, in UTF-16 code units; start and end in seconds; probability from 0 to 1. */
const wordSchema = Type.Tuple([countSchema, countSchema, secondsSchema, secondsSchema, Type.Number()]);
export type Word = Static<typeof wordSchema>;

const segmentSchema = Type.Object({
  index: countSchema,
  start: secondsSchema,
  end: secondsSchema,
  speaker: Type.String(),
  text: Type.String(),
  words: Type.Array(wordSchema),
});
export type Segment = Static<typeof segmentSchema>;

/** GET recordings/ID/segments?after=&limit=: those behind index `after`, from the first without it; `limit` 1–500, default 200. */
export const segmentPageSchema = Type.Object({ segments: Type.Array(segmentSchema) });
export type SegmentPage = Static<typeof segmentPageSchema>;

/**
 * GET recordings/ID/outline: of all segments, at the place of their index, what the page needs to know before it has them:
 * for the strip of the speakers, to find the one at a time, and how long each will be. Starts never decrease.
 */
export const outlineSchema = Type.Object({
  start_milliseconds: Type.Array(countSchema),
  end_milliseconds: Type.Array(countSchema),
  /** Zero-based, the place in `speakers` of the recording. */
  speaker: Type.Array(countSchema),
  /** Length of the text. */
  characters: Type.Array(countSchema),
});
export type Outline = Static<typeof outlineSchema>;

/** GET recordings/ID/find?q=&after=&limit=: segments that have the text, case and accents aside; `limit` 1–1000, default 200. */
export const findSchema = Type.Object({
  /** `marks` in the segment's text. */
  matches: Type.Array(Type.Object({ segment: countSchema, start: secondsSchema, marks: Type.Array(markSchema) })),
  /** How often it is found in the whole transcript. */
  total: countSchema,
  /** Send it as `after` for more. */
  next_after: nullable(countSchema),
});
export type Find = Static<typeof findSchema>;

/**
 * GET recordings/ID/waveform?most=&from=&to=: the peaks between two times, in seconds, of the whole without; `most` folds
 * them into so many at most, 1–20000, default 4000.
 */
export const waveformSchema = Type.Object({
  peaks_per_second: Type.Number({ exclusiveMinimum: 0 }),
  /** Where the first begins. */
  start_seconds: secondsSchema,
  /** Base64 of a byte for each, 0 to 255: the root of the loudest sample's amplitude, to be drawn as a height. */
  peaks: Type.String(),
});
export type Waveform = Static<typeof waveformSchema>;

/** PUT recordings/ID/speakers: by letter; an empty name takes the renaming back. The answer is the recording. */
export const renameSchema = Type.Object(
  { names: Type.Record(Type.String({ pattern: "^[A-Z]{1,4}$" }), Type.String({ maxLength: 100 })) },
  { additionalProperties: false },
);
export type Rename = Static<typeof renameSchema>;
