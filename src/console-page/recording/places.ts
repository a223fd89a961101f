import type { Outline, Segment, Word } from "../../console/contract.ts";

/** Seconds for which a word stays marked after its end, unless the next word starts. */
const LINGER_SECONDS = 0.3;

/** Returns the index of the segment at a time, or of the last one before it; -1 before the first segment. */
export function segmentAt(outline: Outline, seconds: number): number {
  return lastAtMost(outline.start_milliseconds, Math.round(seconds * 1_000));
}

/** Returns the index of the speaker at a time; -1 if nobody speaks. */
export function speakerAt(outline: Outline, seconds: number): number {
  const index = segmentAt(outline, seconds);
  const end = outline.end_milliseconds[index] ?? -1;
  return end >= seconds * 1_000 ? (outline.speaker[index] ?? -1) : -1;
}

/** Returns whether a segment is the first of its speaker's turn, so that a name is shown above it. */
export function beginsTurn({ speaker }: Outline, index: number): boolean {
  return index === 0 || speaker[index] !== speaker[index - 1];
}

/** Returns the word of a segment at a time; null between words. */
export function wordAt({ words }: Segment, seconds: number): Word | null {
  const index = lastAtMost(
    words.map((word) => word[2]),
    seconds,
  );
  const word = words[index];
  if (word === undefined) return null;
  return seconds < word[3] + LINGER_SECONDS ? word : null;
}

/**
 * Returns the word at a character position in the segment's text, or the nearest word; null if the segment has no
 * words.
 */
export function wordAtCharacter({ words }: Segment, character: number): Word | null {
  const within = words.find(([from, to]) => character >= from && character < to);
  if (within !== undefined) return within;
  const distance = ([from, to]: Word) => Math.min(Math.abs(from - character), Math.abs(to - character));
  return words.reduce<Word | null>(
    (best, word) => (best === null || distance(word) < distance(best) ? word : best),
    null,
  );
}

/** A time this close after a word's start still counts as the start, when the user moves to the next word. */
const NEXT_WORD_SECONDS = 0.01;
/** A word that started this recently is skipped, when the user moves to the previous word. */
const PREVIOUS_WORD_SECONDS = 0.25;

/** Returns the start of the previous or next word relative to a time; null if the segment has no such word. */
export function neighbourStart({ words }: Segment, seconds: number, step: 1 | -1): number | null {
  if (step > 0) return words.find(([, , start]) => start > seconds + NEXT_WORD_SECONDS)?.[2] ?? null;
  return words.findLast(([, , start]) => start < seconds - PREVIOUS_WORD_SECONDS)?.[2] ?? null;
}

/** Returns the index of the last ascending value that is not above `limit`; -1 if all are above it. */
export function lastAtMost(values: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
