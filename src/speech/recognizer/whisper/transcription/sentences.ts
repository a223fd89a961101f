import { sentenceMark } from "../../../../text/index.ts";
import type { WhisperSegment, WhisperWord } from "../types.ts";

/** Words that whisper wrote in one go, and its own doubt that anybody speaks. */
export interface Utterance extends Pick<WhisperSegment, "noSpeechProbability" | "words"> {
  /** Where it was read in another language than the chunk, or in the chunk's beside another. */
  readonly language?: string;
}

/** Words up to the end of a sentence, or of the utterance. */
export interface Sentence {
  words: WhisperWord[];
  /** Of the window that it was read from. */
  noSpeechProbability: number;
}

/** Hardly anyone speaks slower. */
const slowestWordsPerSecond = 1;
const letterDigitOrSign = /[\p{L}\p{N}\p{S}]/u;

/** Parts an utterance at the ends of sentences. */
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

/** Mean log probability of words: 0 is certain, and so is no word at all. */
export function sureness(words: readonly WhisperWord[]): number {
  const sum = words.reduce((total, { probability }) => total + Math.log(Math.max(probability, 1e-4)), 0);
  return words.length === 0 ? 0 : sum / words.length;
}

/** Whether there is anything in the words but punctuation. */
export function isSpoken(words: readonly WhisperWord[]): boolean {
  return words.some(({ text }) => letterDigitOrSign.test(text));
}

/** Whether a sentence is slower than anyone speaks. */
export function isDrawnOut(words: readonly WhisperWord[]): boolean {
  const seconds = (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);
  return words.length < seconds * slowestWordsPerSecond;
}
