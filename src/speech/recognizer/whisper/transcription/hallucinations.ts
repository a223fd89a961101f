import { sentenceMark } from "../../../../text/index.ts";
import type { WhisperSegment, WhisperWord } from "../types.ts";
import { isOneRepetition, withoutImpossibleCopies } from "./repetitions.ts";

/**
 * Mean log probabilities below which words are considered hallucinated. Of 310 sentences, also over a bad telephone
 * line, those of three and more words are above -0.9, except two that nobody said. Text for 16 kinds of noise, music
 * and silence is below -1.05 or repeats itself, and is drawn out or comes with a high probability of no speech. Text
 * without either sign may be in a language that the model knows badly.
 */
const limits = { possiblyNoSpeech: -1, probablyNoSpeech: -0.9, drawnOut: -0.9, other: -1.4, few: -1.5 };
/** Limits of the probability of no speech. */
const POSSIBLY_NO_SPEECH = 0.25;
const PROBABLY_NO_SPEECH = 0.5;
/** Number of words up to which a sentence is short; short true sentences alone were seen at -1.3. */
const FEW_WORDS = 2;
/** Margin above the limit within which a sentence is doubtful and worth a second pass. */
const DOUBTFUL_MARGIN = 0.25;
const CREDIBLE_CONFIDENCE = -0.75;

export function isDoubtful(sentence: Sentence): boolean {
  return confidence(sentence.words) < limitOf(sentence) + DOUBTFUL_MARGIN;
}

/** Returns whether a sentence is hallucinated; text without a letter, digit or sign counts as hallucinated. */
function isHallucinatedSentence(sentence: Sentence): boolean {
  return !isSpoken(sentence.words) || confidence(sentence.words) < limitOf(sentence);
}

function limitOf({ words, noSpeechProbability }: Sentence): number {
  const isFew = words.length <= FEW_WORDS;
  if (noSpeechProbability > PROBABLY_NO_SPEECH) return isFew ? limits.possiblyNoSpeech : limits.probablyNoSpeech;
  if (isFew) return limits.few;
  if (isDrawnOut(words)) return limits.drawnOut;
  return noSpeechProbability > POSSIBLY_NO_SPEECH ? limits.possiblyNoSpeech : limits.other;
}

/** Returns whether words are credible in a span where whisper wrote none given more context. */
export function areCredible(words: readonly WhisperWord[]): boolean {
  return words.length > 0 && isSpoken(words) && confidence(words) > CREDIBLE_CONFIDENCE;
}

/**
 * Returns whether the whole transcript is hallucinated, as is one text over and over with a high probability of no
 * speech, which whisper writes for a siren. An empty transcript is not hallucinated.
 */
export function isHallucination(utterances: readonly Utterance[]): boolean {
  const words = utterances.flatMap((utterance) => utterance.words);
  const noSpeechProbability = utterances[0]?.noSpeechProbability ?? 0;
  if (words.length === 0) return false;
  return (
    (noSpeechProbability > PROBABLY_NO_SPEECH && isOneRepetition(words)) ||
    isHallucinatedSentence({ words, noSpeechProbability })
  );
}

/** Removes hallucinated sentences, copies for which there is no time, and utterances without words. */
export function withoutHallucinations(utterances: readonly Utterance[]): Utterance[] {
  return utterances
    .map((utterance) => {
      const kept = toSentences(utterance).filter((sentence) => !isHallucinatedSentence(sentence));
      return { ...utterance, words: withoutImpossibleCopies(kept.flatMap((sentence) => sentence.words)) };
    })
    .filter(({ words }) => words.length > 0);
}

/** Words of one segment, with whisper's probability of no speech. */
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
const MIN_WORDS_PER_SECOND = 1;
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
export function confidence(words: readonly WhisperWord[]): number {
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
  return words.length < seconds * MIN_WORDS_PER_SECOND;
}
