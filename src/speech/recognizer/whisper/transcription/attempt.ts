import { secondsOf } from "../../../../timeline/index.ts";
import type { WhisperWord } from "../types.ts";
import { areBelieved, isDoubtful } from "./invented.ts";
import { countRepeated } from "./repetitions.ts";
import { isDrawnOut, sureness, toSentences, type Utterance } from "./sentences.ts";
import { spoken, unheardSeconds } from "./unheard.ts";

/** What whisper wrote for a chunk in one way of listening, and what speaks against it. */
export interface Attempt {
  utterances: Utterance[];
  /** Mean log probability of its words; 0 is certain. */
  sureness: number;
  /** Words in repetitions. */
  repeatedWords: number;
  /** Seconds in which something may have been left out. */
  unheardSeconds: number;
}

/** Weighs what whisper wrote for `samples`, 16 kHz mono. */
export function weigh(utterances: Utterance[], samples: Float32Array): Attempt {
  const words = utterances.flatMap((utterance) => utterance.words);
  return {
    utterances,
    sureness: sureness(words),
    repeatedWords: countRepeated(words),
    // where it wrote nothing it said itself that nobody speaks
    unheardSeconds: words.length === 0 ? 0 : unheardSeconds(samples, words) + drawnOutSeconds(utterances),
  };
}

/** Weighs what whisper wrote for parts of `samples`, one by one: what stands in two of them is no loop. */
export function weighParts(parts: readonly Utterance[][], samples: Float32Array): Attempt {
  const repeated = parts.map((part) => countRepeated(part.flatMap((utterance) => utterance.words)));
  return { ...weigh(parts.flat(), samples), repeatedWords: repeated.reduce((sum, words) => sum + words, 0) };
}

/** Whether something was left out or written too often. */
export function isIncomplete({ repeatedWords, unheardSeconds }: Attempt): boolean {
  return repeatedWords > 0 || unheardSeconds > 0;
}

/** Whether another attempt may be better. */
export function isDoubted(attempt: Attempt): boolean {
  return isIncomplete(attempt) || attempt.utterances.flatMap(toSentences).some(isDoubtful);
}

/** The attempt that repeats least; of equals the one that leaves least unheard; of equals the surest. */
export function bestOf(attempts: readonly [Attempt, ...Attempt[]]): Attempt {
  return attempts.reduce((best, attempt) => (isBetter(attempt, best) ? attempt : best));
}

function isBetter(one: Attempt, other: Attempt): boolean {
  if (one.repeatedWords !== other.repeatedWords) return one.repeatedWords < other.repeatedWords;
  if (one.unheardSeconds !== other.unheardSeconds) return one.unheardSeconds < other.unheardSeconds;
  return one.sureness > other.sureness;
}

/**
 * Seconds in which another sentence may be in ones that are too slow: of one said twice, after a pause, whisper writes one.
 * What its own words take is no part of that, or a reading that leaves a slow speaker's sentence out would leave out less.
 */
function drawnOutSeconds(utterances: readonly Utterance[]): number {
  return utterances
    .flatMap(toSentences)
    .map(({ words }) => words)
    .filter((words) => areBelieved(words) && words.length > 2 && isDrawnOut(words))
    .reduce((sum, words) => sum + leftSeconds(words), 0);
}

function leftSeconds(words: readonly WhisperWord[]): number {
  const seconds = (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);
  return words.reduce((left, word) => left - secondsOf(spoken(word)), seconds);
}
