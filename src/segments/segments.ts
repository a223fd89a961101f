import { sql } from "drizzle-orm";
import { tables, type Writer } from "../database/index.ts";

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
  /** Whether the voice may be another speaker's. */
  readonly isSpeakerUncertain?: boolean;
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

/** The values of a prepared statement that inserts segments, recognized or corrected. */
export const segmentPlaceholders = {
  index: sql.placeholder("index"),
  startMilliseconds: sql.placeholder("startMilliseconds"),
  endMilliseconds: sql.placeholder("endMilliseconds"),
  speaker: sql.placeholder("speaker"),
  text: sql.placeholder("text"),
  words: sql.placeholder("words"),
  isSpeakerUncertain: sql.placeholder("isSpeakerUncertain"),
};

export function writeSegments(
  writer: Writer,
  recordingId: string,
  segments: readonly (Segment | PackedSegment)[],
): void {
  const insert = writer
    .insert(tables.segments)
    .values({ recordingId, ...segmentPlaceholders })
    .prepare();
  for (const segment of segments) {
    const { startSeconds, endSeconds, isSpeakerUncertain = false, ...rest } = packSegment(segment);
    const times = { startMilliseconds: milliseconds(startSeconds), endMilliseconds: milliseconds(endSeconds) };
    insert.run({ ...rest, ...times, isSpeakerUncertain });
  }
}

/** Stores segments of the translation of a recording. */
export function writeTranslation(writer: Writer, recordingId: string, segments: readonly PackedSegment[]): void {
  const { isSpeakerUncertain: _, ...placeholders } = segmentPlaceholders;
  const insert = writer
    .insert(tables.translatedSegments)
    .values({ recordingId, ...placeholders })
    .prepare();
  for (const { startSeconds, endSeconds, isSpeakerUncertain: _, ...rest } of segments) {
    insert.run({
      ...rest,
      startMilliseconds: milliseconds(startSeconds),
      endMilliseconds: milliseconds(endSeconds),
    });
  }
}

/** A segment in the form that the API serves. */
export interface StoredSegment extends Omit<typeof tables.segments.$inferSelect, "recordingId" | "words"> {
  /** Stays the same when a person splits or joins segments before this one. */
  readonly id: number;
}

/** A segment with its words, in the form that exports use. */
export interface SegmentWithWords extends StoredSegment {
  readonly words: StoredWord[];
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
