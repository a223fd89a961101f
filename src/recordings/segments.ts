import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, asc, eq, gte, sql } from "drizzle-orm";
import { type Store, tables, type Writer } from "../storage/index.ts";

/** A word of a segment; times in seconds from the recording's start. */
export interface Word {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Probability from 0 to 1 as the model reports it. */
  readonly probability: number;
  /** False when the probability is not comparable with Whisper's. */
  readonly isCalibrated?: false;
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
  /** JSON array of StoredWord. */
  readonly words: string;
}

/**
 * Text, start and end in milliseconds, probability. A fifth element, false, marks a probability that is not comparable
 * with Whisper's.
 */
export type StoredWord = [string, number, number, number] | [string, number, number, number, false];

const milliseconds = (seconds: number) => Math.round(seconds * 1000);

/** Converts a segment's words into the stored form. */
export function packSegment(segment: Segment | PackedSegment): PackedSegment {
  const { words } = segment;
  if (typeof words === "string") return { ...segment, words };
  const packed = words.map((word): StoredWord => {
    const times = [milliseconds(word.startSeconds), milliseconds(word.endSeconds)] as const;
    const probability = Math.round(word.probability * 1000) / 1000;
    return word.isCalibrated === false ? [word.text, ...times, probability, false] : [word.text, ...times, probability];
  });
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

/** Condition for the segments of a recording from an index on. */
function segmentsFrom(recordingId: string, fromIndex: number) {
  return and(eq(tables.segments.recordingId, recordingId), gte(tables.segments.index, fromIndex));
}

const storedColumns = {
  index: tables.segments.index,
  startMilliseconds: tables.segments.startMilliseconds,
  endMilliseconds: tables.segments.endMilliseconds,
  speaker: tables.segments.speaker,
  text: tables.segments.text,
};

/** A segment in the form that the API serves. */
export type StoredSegment = Pick<typeof tables.segments.$inferSelect, keyof typeof storedColumns>;

/** Returns up to `limit` segments of a recording from `fromIndex` on, in order. */
export function readSegments(store: Store, recordingId: string, fromIndex: number, limit: number): StoredSegment[] {
  return store
    .select(storedColumns)
    .from(tables.segments)
    .where(segmentsFrom(recordingId, fromIndex))
    .orderBy(asc(tables.segments.index))
    .limit(limit)
    .all();
}

/** A segment with its words, in the form that exports use. */
export interface SegmentWithWords extends StoredSegment {
  readonly words: StoredWord[];
}

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
    .where(segmentsFrom(recordingId, fromIndex))
    .orderBy(asc(tables.segments.index))
    .limit(limit)
    .all()
    .map(({ words, ...segment }) => ({ ...segment, words: JSON.parse(words) as SegmentWithWords["words"] }));
}

const ROWS_AT_ONCE = 500;

/** Yields all segments of a recording with their words, in order; reads them on demand. */
export function* allSegmentsWithWords(store: Store, recordingId: string): Generator<SegmentWithWords> {
  for (let fromIndex = 0; ; fromIndex += ROWS_AT_ONCE) {
    const segments = readSegmentsWithWords(store, recordingId, fromIndex, ROWS_AT_ONCE);
    yield* segments;
    if (segments.length < ROWS_AT_ONCE) return;
  }
}

/** The speakers and text lengths of a transcript's segments; the position in each array is the segment's index. */
export interface Outline {
  readonly startMilliseconds: number[];
  readonly endMilliseconds: number[];
  /** Zero-based in order of first appearance. */
  readonly speakers: number[];
  /** Lengths of the texts. */
  readonly characters: number[];
}

const OUTLINE_ROWS_AT_ONCE = 2000;

/** Reads an outline in batches, since transcripts of days have tens of thousands of segments. */
export async function readOutline(store: Store, recordingId: string): Promise<Outline> {
  const { segments } = tables;
  const outline: Outline = { startMilliseconds: [], endMilliseconds: [], speakers: [], characters: [] };
  for (let from = 0; ; from += OUTLINE_ROWS_AT_ONCE) {
    const rows = store
      .select({
        start: segments.startMilliseconds,
        end: segments.endMilliseconds,
        speaker: segments.speaker,
        characters: sql<number>`length(${segments.text})`,
      })
      .from(segments)
      .where(segmentsFrom(recordingId, from))
      .orderBy(asc(segments.index))
      .limit(OUTLINE_ROWS_AT_ONCE)
      .all();
    for (const { start, end, speaker, characters } of rows) {
      outline.startMilliseconds.push(start);
      outline.endMilliseconds.push(end);
      outline.speakers.push(speaker);
      outline.characters.push(characters);
    }
    if (rows.length < OUTLINE_ROWS_AT_ONCE) return outline;
    await yieldToEventLoop();
  }
}
