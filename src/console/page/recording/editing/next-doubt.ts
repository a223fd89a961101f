import type { Segment } from "../../../contract/index.ts";
import type { TranscriptData } from "../transcript/transcript-data.ts";
import type { EditedPlace, Selection } from "./type-ahead.ts";

/** Returns the words of a segment whose probability is comparable and below a limit. */
export function doubtsIn(segment: Segment | null, below: number): readonly Selection[] {
  const doubted = segment?.words.filter(([, , , , probability]) => probability !== null && probability < below) ?? [];
  return doubted.map(([from, to]) => [from, to]);
}

/**
 * Returns the ranges of words in a text that was typed over another one. The text differs between a common beginning and
 * a common end; words that are not completely in one of these were changed, and are left out.
 */
export function rangesAfter(before: string, after: string, words: readonly Selection[]): readonly Selection[] {
  const shorter = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < shorter && before[begin] === after[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && before.at(-1 - end) === after.at(-1 - end)) end++;
  const shift = after.length - before.length;
  return words.flatMap(([from, to]): Selection[] => {
    const isBefore = to <= begin;
    const isAfter = from >= before.length - end;
    if (!isBefore && !isAfter) return [];
    const range: Selection = isBefore ? [from, to] : [from + shift, to + shift];
    const isLonger = isNewLetter(before[from - 1], after[range[0] - 1]) || isNewLetter(before[to], after[range[1]]);
    return isLonger ? [] : [range];
  });
}

/** Returns whether a letter was typed directly next to a word, so that it belongs to the word. */
function isNewLetter(before: string | undefined, after: string | undefined): boolean {
  return after !== undefined && after !== before && /[\p{L}\p{N}]/u.test(after);
}

/** A place in a segment from which an uncertain word or speaker is searched. */
export interface Start {
  /** Position of the segment. */
  readonly index: number;
  /** Its text in the field. */
  readonly text: string;
  /** SPEAKER: its speaker, which comes before its text. */
  readonly character: number;
}

/** The place before the first character of a text. */
export const SPEAKER = -1;

/**
 * Finds the next or the previous uncertain word or speaker of a transcript, and loads the segments on the way. Without
 * such a need it sends no request, so that it works without a connection.
 * @param isUncertain returns whether the speaker of a segment is shown as uncertain
 * @returns null if there is none; `not loaded` if the segments on the way could not be loaded
 */
export async function nextDoubt(
  data: Pick<TranscriptData, "outline" | "get" | "loaded">,
  below: number,
  isUncertain: (segment: Segment) => boolean,
  step: 1 | -1,
  { index, text, character }: Start,
): Promise<EditedPlace | null | "not loaded"> {
  for (let at = index; at >= 0 && at < (data.outline?.characters.length ?? 0); at += step) {
    const segment = data.get(at) ?? (await data.loaded(at));
    if (segment === null) return "not loaded";
    const isFirst = at === index;
    const doubts = doubtsIn(segment, below);
    const isStop = isUncertain(segment) && (!isFirst || (step < 0 && character !== SPEAKER));
    const speaker: EditedPlace = { id: segment.id, selection: [0, 0], isSpeaker: true };
    if (isStop && step > 0) return speaker;
    const found = isFirst
      ? nearest(rangesAfter(segment.text, text, doubts), step, character)
      : doubts.at(step > 0 ? 0 : -1);
    if (found !== undefined) return { id: segment.id, selection: found };
    if (isStop) return speaker;
  }
  return null;
}

/** Returns the next range after a character, or the previous one before it. */
function nearest(ranges: readonly Selection[], step: 1 | -1, character: number): Selection | undefined {
  return step > 0 ? ranges.find(([from]) => from >= character) : ranges.findLast(([, to]) => to <= character);
}
