import type { PackedSegment, StoredWord } from "../segments/index.ts";
import { MAX_TEXT_CHARACTERS } from "./correction.ts";
import { placeWords, retimeWords } from "./word-times.ts";

/** A place in a text, and what is written there instead. */
export interface TextReplacement {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A segment with the words that its account always writes in one way. */
export interface RespelledSegment {
  /** Its index in the transcript as recognized. */
  readonly index: number;
  readonly text: string;
  /** JSON array of StoredWord. */
  readonly words: string;
}

/** Name of the account's replacements as the author of a revision. */
export const REPLACEMENTS_AUTHOR = "replacements";

const milliseconds = (seconds: number) => Math.round(seconds * 1000);

/**
 * Returns a segment with replaced words, which are certain from now on. Other words keep their times and probabilities,
 * and replaced ones share the times of those before. Returns null if the text would be too long.
 * @param places places in the text, in order
 */
export function respellSegment(segment: PackedSegment, places: readonly TextReplacement[]): RespelledSegment | null {
  const { index, text: before, startSeconds, endSeconds } = segment;
  let text = "";
  let reached = 0;
  const replaced = places.map((place) => {
    text += before.slice(reached, place.from);
    const from = text.length;
    text += place.text;
    reached = place.to;
    return [from, text.length] as const;
  });
  text += before.slice(reached);
  if (text.length > Math.max(MAX_TEXT_CHARACTERS, before.length)) return null;
  const times = { startMilliseconds: milliseconds(startSeconds), endMilliseconds: milliseconds(endSeconds) };
  const words = retimeWords({ ...times, text: before, words: JSON.parse(segment.words) as StoredWord[] }, text);
  const isReplaced = new Set(
    placeWords(text, words)
      .filter(({ from, to }) => replaced.some(([start, end]) => from < end && to > start))
      .map(({ word }) => word),
  );
  const certain = words.map((word): StoredWord => (isReplaced.has(word) ? [word[0], word[1], word[2], 1] : word));
  return { index, text, words: JSON.stringify(certain) };
}
