import type { WhisperWord } from "../types.ts";
import { isOneRepetition, withoutImpossibleCopies } from "./repetitions.ts";
import { isDrawnOut, isSpoken, type Sentence, sureness, toSentences, type Utterance } from "./sentences.ts";

/**
 * Mean log probabilities from which words are taken for invented. Of 310 sentences of the corpus' speech, and of clips
 * over a bad telephone line, those of three words and more are above -0.9, except two that nobody said. What whisper
 * writes for 16 kinds of noise, music, tones and silence is below -1.05, or repeats itself, and is drawn out or comes
 * with its own doubt that anybody speaks. What has neither may be a language that the model knows badly.
 */
const limits = { doubtedSpeech: -1, hardlySpeech: -0.9, drawnOut: -0.9, other: -1.4, few: -1.5 };
/** Probabilities of no speech. */
const doubtedSpeech = 0.25;
const hardlySpeech = 0.5;
/** Alone, so many true words were seen at -1.3. */
const fewWords = 2;
/** So close to what is taken for invented, a sentence is worth a second look. */
const doubtfulMargin = 0.25;
const believed = -0.75;

export function isDoubtful(sentence: Sentence): boolean {
  return sureness(sentence.words) < limitOf(sentence) + doubtfulMargin;
}

/** Whether whisper guessed a sentence rather than heard it; one without a letter is none. */
function isInvented(sentence: Sentence): boolean {
  return !isSpoken(sentence.words) || sureness(sentence.words) < limitOf(sentence);
}

function limitOf({ words, noSpeechProbability }: Sentence): number {
  const isFew = words.length <= fewWords;
  if (noSpeechProbability > hardlySpeech) return isFew ? limits.doubtedSpeech : limits.hardlySpeech;
  if (isFew) return limits.few;
  if (isDrawnOut(words)) return limits.drawnOut;
  return noSpeechProbability > doubtedSpeech ? limits.doubtedSpeech : limits.other;
}

/** Whether words are believed where whisper, hearing more around them, wrote none: true ones are seldom less sure. */
export function areBelieved(words: readonly WhisperWord[]): boolean {
  return words.length > 0 && isSpoken(words) && sureness(words) > believed;
}

/**
 * Whether whisper guessed all that it wrote, or doubts that anybody speaks and wrote one thing over and over, as it does
 * for a siren, surely; nothing written is nothing guessed.
 */
export function isAllInvented(utterances: readonly Utterance[]): boolean {
  const words = utterances.flatMap((utterance) => utterance.words);
  const noSpeechProbability = utterances[0]?.noSpeechProbability ?? 0;
  if (words.length === 0) return false;
  return (noSpeechProbability > hardlySpeech && isOneRepetition(words)) || isInvented({ words, noSpeechProbability });
}

/** Leaves out the sentences that are invented, and copies for which there is no time; utterances without words too. */
export function withoutInvented(utterances: readonly Utterance[]): Utterance[] {
  return utterances
    .map((utterance) => {
      const heard = toSentences(utterance).filter((sentence) => !isInvented(sentence));
      return { ...utterance, words: withoutImpossibleCopies(heard.flatMap((sentence) => sentence.words)) };
    })
    .filter(({ words }) => words.length > 0);
}
