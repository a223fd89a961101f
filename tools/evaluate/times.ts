import { alignWords } from "../../harness/align-words.ts";
import { plainWords } from "../../harness/wer.ts";
import { type Span, secondsOf } from "../../src/timeline/index.ts";
import type { SpokenTurn } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";
import type { Hypothesis, TranscribedWord } from "./server.ts";

/**
 * Returns the errors of the first and last words of turns, if these words were recognized correctly. The times of other
 * words are unknown.
 * @returns errors of first words, and of last words, in seconds; positive when late
 */
export function edgeErrors(turns: readonly SpokenTurn[], words: readonly TranscribedWord[]) {
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

/** Length of a span without speech above which a word counts as outside. */
const OUTSIDE_SECONDS = 0.2;

/** Returns the words that extend more than 0.2 s beyond speech, before or after it or across a pause. */
export function wordsOutside<T extends Span>(speech: readonly Span[], words: readonly T[]): T[] {
  return words.filter((word) => longestOutside(speech, word) > OUTSIDE_SECONDS);
}

/** Returns the parts of a span that no other span covers, in order. */
export function uncovered({ startSeconds, endSeconds }: Span, others: readonly Span[]): Span[] {
  const free: Span[] = [];
  let from = startSeconds;
  for (const other of others.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    if (other.startSeconds >= endSeconds) break;
    if (other.startSeconds > from) free.push({ startSeconds: from, endSeconds: other.startSeconds });
    from = Math.max(from, other.endSeconds);
  }
  if (from < endSeconds) free.push({ startSeconds: from, endSeconds });
  return free;
}

/** Returns the length of the longest part of a span that lies outside all other spans. */
export function longestOutside(others: readonly Span[], span: Span): number {
  return Math.max(0, ...uncovered(span, others).map(secondsOf));
}

/** Words that were recognized in spans without speech. */
export interface HallucinatedWords {
  readonly name: string;
  /** Total length of the spans without speech. */
  readonly seconds: number;
  readonly words: readonly string[];
}

/** Counts every word of a recording without speech. */
export function hallucinatedIn(name: string, all: readonly Span[], { segments }: Hypothesis): HallucinatedWords {
  return { name, seconds: total(all, secondsOf), words: segments.flatMap(({ text }) => plainWords(text)) };
}

/** Tolerance for the times of words next to speech. */
const MARGIN_SECONDS = 0.2;

/** Counts the words that lie at least 0.2 s away from speech. */
export function hallucinatedInGaps(name: string, gaps: readonly Span[], { segments }: Hypothesis): HallucinatedWords {
  const wide = gaps
    .map((gap) => ({ startSeconds: gap.startSeconds + MARGIN_SECONDS, endSeconds: gap.endSeconds - MARGIN_SECONDS }))
    .filter((gap) => secondsOf(gap) > 0);
  const words = segments.flatMap((segment) => segment.words);
  return {
    name,
    seconds: total(wide, secondsOf),
    words: words
      .filter((word) => wide.some((gap) => gap.startSeconds <= word.startSeconds && word.endSeconds <= gap.endSeconds))
      .flatMap(({ text }) => plainWords(text)),
  };
}

/** Returns the number of words per hour without speech. */
export function hallucinatedPerHour(all: readonly HallucinatedWords[]): number {
  return (3600 * total(all, ({ words }) => words.length)) / total(all, ({ seconds }) => seconds);
}
