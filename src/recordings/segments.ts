import { and, asc, eq, gte, sql } from "drizzle-orm";
import { type Store, tables, type Writer } from "../storage/index.ts";

/** A word of a segment; times in seconds from the recording's start. */
export interface Word {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Probability from 0 to 1 as the model reports it. */
  readonly probability: number;
}

/** The position of a segment in a transcript and its speaker; `startSeconds < endSeconds`. */
export interface SegmentSpan {
  readonly index: number;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Zero-based in order of first appearance. */
  readonly speaker: number;
}

/** A span of one speaker's speech; the text is trimmed and never empty. */
export interface Segment extends SegmentSpan {
  readonly text: string;
  readonly words: readonly Word[];
}

/** A segment with its words in the stored form, which takes a tenth of the memory. */
export interface PackedSegment extends SegmentSpan {
  readonly text: string;
  /** JSON array of [text, startMilliseconds, endMilliseconds, probability]. */
  readonly words: string;
}

const milliseconds = (seconds: number) => Math.round(seconds * 1000);

/** Converts a segment's words into the stored form. */
export function packSegment(segment: Segment | PackedSegment): PackedSegment {
  const { words } = segment;
  if (typeof words === "string") return { ...segment, words };
  const packed = words.map((word) => [
    word.text,
    milliseconds(word.startSeconds),
    milliseconds(word.endSeconds),
    Math.round(word.probability * 1000) / 1000,
  ]);
  return { ...segment, words: JSON.stringify(packed) };
}

export function writeSegments(
  writer: Writer,
  recordingId: string,
  segments: readonly (Segment | PackedSegment)[],
): void {
  const insert = writer
    .insert(tables.segments)
    .values({
      recordingId,
      index: sql.placeholder("index"),
      startMilliseconds: sql.placeholder("start"),
      endMilliseconds: sql.placeholder("end"),
      speaker: sql.placeholder("speaker"),
      text: sql.placeholder("text"),
      words: sql.placeholder("words"),
    })
    .prepare();
  for (const segment of segments) {
    const { startSeconds, endSeconds, ...rest } = packSegment(segment);
    insert.run({ ...rest, start: milliseconds(startSeconds), end: milliseconds(endSeconds) });
  }
}

/** A segment in the form that the API serves. */
export type StoredSegment = Pick<
  typeof tables.segments.$inferSelect,
  "index" | "startMilliseconds" | "endMilliseconds" | "speaker" | "text"
>;

/** Returns up to `limit` segments of a recording from `fromIndex` on, in order. */
export function readSegments(store: Store, recordingId: string, fromIndex: number, limit: number): StoredSegment[] {
  return store
    .select({
      index: tables.segments.index,
      startMilliseconds: tables.segments.startMilliseconds,
      endMilliseconds: tables.segments.endMilliseconds,
      speaker: tables.segments.speaker,
      text: tables.segments.text,
    })
    .from(tables.segments)
    .where(and(eq(tables.segments.recordingId, recordingId), gte(tables.segments.index, fromIndex)))
    .orderBy(asc(tables.segments.index))
    .limit(limit)
    .all();
}

/** A segment with its words, in the form that exports use. */
export interface SegmentWithWords extends StoredSegment {
  /** Text, start and end in milliseconds, probability. */
  readonly words: [string, number, number, number][];
}

const ROWS_AT_ONCE = 500;

/** Returns up to `limit` segments of a recording with their words from `fromIndex` on, in order. */
export function readSegmentsWithWords(
  store: Store,
  recordingId: string,
  fromIndex: number,
  limit: number,
): SegmentWithWords[] {
  return store
    .select()
    .from(tables.segments)
    .where(and(eq(tables.segments.recordingId, recordingId), gte(tables.segments.index, fromIndex)))
    .orderBy(asc(tables.segments.index))
    .limit(limit)
    .all()
    .map(({ words, ...segment }) => ({ ...segment, words: JSON.parse(words) as SegmentWithWords["words"] }));
}

/** Yields all segments of a recording with their words, in order; reads them on demand. */
export function* allSegmentsWithWords(store: Store, recordingId: string): Generator<SegmentWithWords> {
  for (let fromIndex = 0; ; fromIndex += ROWS_AT_ONCE) {
    const segments = readSegmentsWithWords(store, recordingId, fromIndex, ROWS_AT_ONCE);
    yield* segments;
    if (segments.length < ROWS_AT_ONCE) return;
  }
}

/** Returns the speakers of a recording, in order of first appearance. */
export function speakersOf(store: Store, recordingId: string): number[] {
  return store
    .selectDistinct({ speaker: tables.segments.speaker })
    .from(tables.segments)
    .where(eq(tables.segments.recordingId, recordingId))
    .orderBy(tables.segments.speaker)
    .all()
    .map((row) => row.speaker);
}

/** Returns the speaker with this public name: `A` is 0, `Z` is 25, `AA` is 26. */
export function speakerIndex(label: string): number {
  return [...label].reduce((index, letter) => (index + 1) * 26 + letter.charCodeAt(0) - 65, -1);
}

/** Returns a speaker's public name: `A` … `Z`, `AA` … */
export function speakerLabel(speaker: number): string {
  let label = "";
  for (let rest = speaker; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    label = String.fromCharCode(65 + (rest % 26)) + label;
  }
  return label;
}
