import { plainWords } from "../../harness/wer.ts";
import type { Hypothesis } from "./evaluation-server.ts";
import { type Span, secondsOf } from "./measure-times.ts";

/** Words that were recognized in spans without speech. */
export interface HallucinatedWords {
  readonly name: string;
  /** Total length of the spans without speech. */
  readonly seconds: number;
  readonly words: readonly string[];
}

/** Counts every word of a recording without speech. */
export function hallucinatedIn(name: string, seconds: number, { segments }: Hypothesis): HallucinatedWords {
  return { name, seconds, words: segments.flatMap(({ text }) => plainWords(text)) };
}

/** Tolerance for the times of words next to speech. */
const marginSeconds = 0.2;

/** Counts the words that lie at least 0.2 s away from speech. */
export function hallucinatedInGaps(name: string, gaps: readonly Span[], { segments }: Hypothesis): HallucinatedWords {
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

/** Returns the number of words per hour without speech. */
export function hallucinatedPerHour(all: readonly HallucinatedWords[]): number {
  const hours = all.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
  return all.reduce((sum, { words }) => sum + words.length, 0) / hours;
}
