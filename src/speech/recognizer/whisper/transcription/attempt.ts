import { secondsOf } from "../../../../timeline/index.ts";
import type { WhisperWord } from "../types.ts";
import { areCredible, confidence, isDoubtful, isDrawnOut, toSentences, type Utterance } from "./hallucinations.ts";
import { missingSeconds, spoken } from "./missing-words.ts";
import { countRepeated } from "./repetitions.ts";

/** One transcript of a chunk and the measures of its defects. */
export interface Attempt {
  utterances: Utterance[];
  /** Mean log probability of the words; 0 is certain. */
  confidence: number;
  /** Number of words in repetitions. */
  repeatedWords: number;
  /** Seconds in which words may be missing. */
  missingSeconds: number;
}

/** Rates a transcript of `samples`, 16 kHz mono. */
export function weigh(utterances: Utterance[], samples: Float32Array): Attempt {
  const words = utterances.flatMap((utterance) => utterance.words);
  return {
    utterances,
    confidence: confidence(words),
    repeatedWords: countRepeated(words),
    // Without any word, whisper itself reports that nobody speaks.
    missingSeconds: words.length === 0 ? 0 : missingSeconds(samples, words) + drawnOutSeconds(utterances),
  };
}

/** Rates the transcripts of several parts of `samples`. Text that occurs in two parts is no repetition. */
export function weighParts(parts: readonly Utterance[][], samples: Float32Array): Attempt {
  const repeated = parts.map((part) => countRepeated(part.flatMap((utterance) => utterance.words)));
  return { ...weigh(parts.flat(), samples), repeatedWords: repeated.reduce((sum, words) => sum + words, 0) };
}

/** Returns whether words are missing or repeated. */
export function isIncomplete({ repeatedWords, missingSeconds }: Attempt): boolean {
  return repeatedWords > 0 || missingSeconds > 0;
}

/** Returns whether another attempt may be better. */
export function needsSecondPass(attempt: Attempt): boolean {
  return isIncomplete(attempt) || attempt.utterances.flatMap(toSentences).some(isDoubtful);
}

/** Returns the attempt with the fewest repeated words; then the fewest missing seconds; then the highest confidence. */
export function bestOf(attempts: readonly [Attempt, ...Attempt[]]): Attempt {
  return attempts.reduce((best, attempt) => (isBetter(attempt, best) ? attempt : best));
}

function isBetter(one: Attempt, other: Attempt): boolean {
  if (one.repeatedWords !== other.repeatedWords) return one.repeatedWords < other.repeatedWords;
  if (one.missingSeconds !== other.missingSeconds) return one.missingSeconds < other.missingSeconds;
  return one.confidence > other.confidence;
}

/**
 * Returns the seconds in slow sentences that may hide another one, less the time of their own words: of a sentence that
 * is said twice with a pause between, whisper writes only one.
 */
function drawnOutSeconds(utterances: readonly Utterance[]): number {
  return utterances
    .flatMap(toSentences)
    .map(({ words }) => words)
    .filter((words) => areCredible(words) && words.length > 2 && isDrawnOut(words))
    .reduce((sum, words) => sum + leftSeconds(words), 0);
}

function leftSeconds(words: readonly WhisperWord[]): number {
  const seconds = (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);
  return words.reduce((left, word) => left - secondsOf(spoken(word)), seconds);
}
