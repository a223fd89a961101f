import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { tables } from "../../database/index.ts";
import { type PackedSegment, packSegment } from "../../segments/index.ts";
import type { EngineWord } from "../../timeline/index.ts";
import type { LiveSegment } from "../contract.ts";

type Row = typeof tables.liveSegments.$inferSelect;

/** A stored segment, with the id of its turn. */
export interface TurnSegment extends LiveSegment {
  readonly turn: string;
}

/** See StoredWord in segments/segments.ts. */
const wordsSchema = Type.Array(
  Type.Union([
    Type.Tuple([Type.String(), Type.Number(), Type.Number(), Type.Number()]),
    Type.Tuple([Type.String(), Type.Number(), Type.Number(), Type.Number(), Type.Literal(false)]),
  ]),
);

/** Returns the row of a segment. */
export function toRow(sessionId: string, turn: string, segment: LiveSegment): Row {
  const { number, startSeconds, endSeconds, text, speaker } = segment;
  const { words } = packed(segment);
  return {
    sessionId,
    number,
    turn,
    startMilliseconds: Math.round(startSeconds * 1000),
    endMilliseconds: Math.round(endSeconds * 1000),
    speaker: speaker === null ? null : speakerNumber(speaker),
    text,
    words,
  };
}

/** Returns the segment of a row. */
export function toSegment({
  number,
  turn,
  startMilliseconds,
  endMilliseconds,
  speaker,
  text,
  words,
}: Row): TurnSegment {
  return {
    turn,
    number,
    startSeconds: startMilliseconds / 1000,
    endSeconds: endMilliseconds / 1000,
    text,
    words: parseWords(words),
    speaker: speaker === null ? null : speakerLabel(speaker),
  };
}

/** Returns a segment in the form that a transcript's segments have. */
export function packed(segment: LiveSegment): PackedSegment {
  return packSegment({ ...segment, index: segment.number, speaker: 0 });
}

/** Returns the label of a speaker in live sessions. */
export function speakerLabel(number: number): string {
  return `S${number}`;
}

/** Returns the number in a speaker's label; null if it is none. */
export function speakerNumber(label: string): number | null {
  return /^S[1-9]\d{0,2}$/.test(label) ? Number(label.slice(1)) : null;
}

/** Parses words in the stored form. */
export function parseWords(json: string): EngineWord[] {
  const words: unknown = JSON.parse(json);
  if (!Value.Check(wordsSchema, words)) return [];
  return words.map(([text, start, end, probability, isCalibrated]) => ({
    text,
    startSeconds: start / 1000,
    endSeconds: end / 1000,
    probability,
    ...(isCalibrated === false && { isCalibrated }),
  }));
}
