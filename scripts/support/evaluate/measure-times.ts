import { plainWords } from "../../../test/support/wer.ts";
import { alignWords } from "./align.ts";
import type { SpokenTurn } from "./corpus.ts";
import type { HeardWord } from "./hypotheses.ts";
import { longestOutside, type Span } from "./spans.ts";

/** How far heard words lie from where they were said, in seconds; positive is late. */
export interface TimeErrors {
  /** Of first words of turns. */
  readonly starts: readonly number[];
  /** Of last words of turns. */
  readonly ends: readonly number[];
}

/**
 * Errors of the first and last words of turns, where those words were heard as they were said: the only ones whose times
 * are known.
 */
export function edgeErrors(turns: readonly SpokenTurn[], words: readonly HeardWord[]): TimeErrors {
  const said = turns.flatMap((turn) => {
    const plain = plainWords(turn.text);
    return plain.map((word, index) => ({
      word,
      startSeconds: index === 0 ? turn.startSeconds : null,
      endSeconds: index === plain.length - 1 ? turn.endSeconds : null,
    }));
  });
  const heard = words.flatMap((timed) => plainWords(timed.text).map((word) => ({ word, timed })));
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [saidAt, heardAt] of alignWords(
    said.map(({ word }) => word),
    heard.map(({ word }) => word),
  )) {
    const { word, startSeconds, endSeconds } = said[saidAt] ?? { word: "", startSeconds: null, endSeconds: null };
    const found = heard[heardAt];
    if (found?.word !== word) continue;
    if (startSeconds !== null) starts.push(found.timed.startSeconds - startSeconds);
    if (endSeconds !== null) ends.push(found.timed.endSeconds - endSeconds);
  }
  return { starts, ends };
}

/** Words more than 0.2 s of which lie at one stretch where nobody spoke. */
const outsideSeconds = 0.2;

/** Words that reach out of the speech by more than 0.2 s, be it before, after or across a pause. */
export function wordsOutside<T extends Span>(speech: readonly Span[], words: readonly T[]): T[] {
  return words.filter((word) => longestOutside(speech, word) > outsideSeconds);
}
