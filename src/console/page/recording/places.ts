import type { Outline, Segment, Word } from "../../contract/index.ts";

/** Seconds for which a word stays marked after its end, unless the next word starts. */
const LINGER_SECONDS = 0.3;

/** Number of segments among which one that is still spoken is looked for: many minutes of speech. */
const MAX_LOOK_BACK = 1_000;

/** Returns the index of the last segment that starts at a time or before; -1 before the first segment. */
export function lastStarted(outline: Outline, seconds: number): number {
  return lastAtMost(outline.start_milliseconds, Math.round(seconds * 1_000));
}

/**
 * Returns the index of the segment that is spoken at a time, of several the one that started last. In a pause, it is the
 * segment that started last; -1 before the first segment.
 */
export function segmentAt(outline: Outline, seconds: number): number {
  const last = lastStarted(outline, seconds);
  const spoken = spokenAt(outline, seconds, last);
  return spoken < 0 ? last : spoken;
}

/** Returns the index of the speaker at a time, of several the one who started last; -1 if nobody speaks. */
export function speakerAt(outline: Outline, seconds: number): number {
  return outline.speaker[spokenAt(outline, seconds, lastStarted(outline, seconds))] ?? -1;
}

/** Returns the index of the segment up to `last` that is spoken at a time; -1 for none. */
function spokenAt({ end_milliseconds }: Outline, seconds: number, last: number): number {
  const isSpoken = (index: number) => (end_milliseconds[index] ?? -1) >= seconds * 1_000;
  let index = last;
  // Another party may have begun and finished within a segment.
  while (index >= 0 && !isSpoken(index)) index = last - index < MAX_LOOK_BACK ? index - 1 : -1;
  return index;
}

/** Returns whether a segment is the first of its speaker's turn, so that a name is shown above it. */
export function beginsTurn({ speaker }: Outline, index: number): boolean {
  return index === 0 || speaker[index] !== speaker[index - 1];
}

/**
 * Returns the word of a segment at a time, of several the one that started last; null between words. Words are in the
 * order of the text, which is another order than that of time if a person has joined the segments of two parties.
 */
export function wordAt({ words }: Segment, seconds: number): Word | null {
  return words
    .filter(([, , start, end]) => start <= seconds && seconds < end + LINGER_SECONDS)
    .reduce<Word | null>((last, word) => (last === null || word[2] >= last[2] ? word : last), null);
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
  const starts = words.map(([, , start]) => start);
  const others = starts.filter((start) =>
    step > 0 ? start > seconds + NEXT_WORD_SECONDS : start < seconds - PREVIOUS_WORD_SECONDS,
  );
  if (others.length === 0) return null;
  return step > 0 ? Math.min(...others) : Math.max(...others);
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
