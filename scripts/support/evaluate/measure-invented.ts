import { plainWords } from "../../../test/support/wer.ts";
import type { Hypothesis } from "./hypotheses.ts";
import { type Span, secondsOf } from "./spans.ts";

/** Words that were heard where nobody spoke. */
export interface Invented {
  readonly name: string;
  /** How long nobody spoke. */
  readonly seconds: number;
  readonly words: readonly string[];
}

/** Every word of a recording in which nobody speaks. */
export function inventedIn(name: string, seconds: number, { segments }: Hypothesis): Invented {
  return { name, seconds, words: segments.flatMap(({ text }) => plainWords(text)) };
}

/** How near to speech a word's times may be off. */
const marginSeconds = 0.2;

/** Words no part of which lies within 0.2 s of speech. */
export function inventedBetween(name: string, gaps: readonly Span[], { segments }: Hypothesis): Invented {
  const wide = gaps
    .map((gap) => ({ startSeconds: gap.startSeconds + marginSeconds, endSeconds: gap.endSeconds - marginSeconds }))
    .filter((gap) => secondsOf(gap) > 0);
  const words = segments.flatMap((segment) => segment.words);
  return {
    name,
    seconds: wide.reduce((sum, gap) => sum + secondsOf(gap), 0),
    words: words
      .filter((word) => wide.some((gap) => gap.startSeconds <= word.startSeconds && word.endSeconds <= gap.endSeconds))
      .flatMap(({ text }) => plainWords(text)),
  };
}

/** Words in an hour without speech. */
export function inventedPerHour(all: readonly Invented[]): number {
  const hours = all.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
  return all.reduce((sum, { words }) => sum + words.length, 0) / hours;
}
