import { sentenceMark } from "../../../../text/index.ts";
import type { WhisperSegment, WhisperWord } from "../types.ts";

/** Words that whisper wrote at once, with its own probability that nobody speaks. */
export interface Utterance extends Pick<WhisperSegment, "noSpeechProbability" | "words"> {
  /** Set when the part was decoded in its own language, because the chunk has parts in several languages. */
  readonly language?: string;
}

/** Words up to the end of a sentence or of the utterance. */
export interface Sentence {
  words: WhisperWord[];
  /** Probability of no speech in the decoded window. */
  noSpeechProbability: number;
}

/** Minimum speed of speech; hardly anyone speaks more slowly. */
const slowestWordsPerSecond = 1;
const letterDigitOrSign = /[\p{L}\p{N}\p{S}]/u;

/** Splits an utterance at the ends of sentences. */
export function toSentences({ words, noSpeechProbability }: Utterance): Sentence[] {
  const sentences: Sentence[] = [];
  let isOpen = false;
  for (const word of words) {
    if (isOpen) sentences.at(-1)?.words.push(word);
    else sentences.push({ words: [word], noSpeechProbability });
    isOpen = sentenceMark(word.text) === undefined;
  }
  return sentences;
}

/** Returns the mean log probability of words; 0 is certain, and also the result for no words. */
export function sureness(words: readonly WhisperWord[]): number {
  const sum = words.reduce((total, { probability }) => total + Math.log(Math.max(probability, 1e-4)), 0);
  return words.length === 0 ? 0 : sum / words.length;
}

/** Returns whether the words contain more than punctuation. */
export function isSpoken(words: readonly WhisperWord[]): boolean {
  return words.some(({ text }) => letterDigitOrSign.test(text));
}

/** Returns whether a sentence is slower than anyone speaks. */
export function isDrawnOut(words: readonly WhisperWord[]): boolean {
  const seconds = (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);
  return words.length < seconds * slowestWordsPerSecond;
}
