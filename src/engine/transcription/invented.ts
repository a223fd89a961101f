import { withoutImpossibleCopies } from "./repetitions.ts";
import { isSpoken, type Sentence, sureness, toSentences, type Utterance } from "./sentences.ts";

/**
 * Mean log probabilities from which words are taken for invented. Of 310 sentences of the corpus' speech, and of clips
 * over a bad telephone line, those of three words and more are above -0.9, except two that nobody said. What whisper
 * writes for 16 kinds of noise, music, tones and silence is below -1.05, or repeats itself.
 */
const limits = {
  any: -1,
  /** Whisper hears no speech itself. */
  unspoken: -0.9,
  /** Drawn out, as hardly anyone speaks: of those 16, ten are. */
  slow: -0.75,
  /** One or two words: true ones were seen at -1.3. */
  few: -1.5,
};
const unspokenProbability = 0.5;
const slowestWordsPerSecond = 1;
const fewWords = 2;
/** So close to what is taken for invented, a sentence is worth a second look. */
const doubtfulMargin = 0.25;

export function isDoubtful(sentence: Sentence): boolean {
  return sureness(sentence.words) < limitOf(sentence) + doubtfulMargin;
}

/** Whether whisper guessed a sentence rather than heard it; one without a letter is none. */
export function isInvented(sentence: Sentence): boolean {
  return !isSpoken(sentence.words) || sureness(sentence.words) < limitOf(sentence);
}

function limitOf({ words, noSpeechProbability }: Sentence): number {
  const isUnspoken = noSpeechProbability > unspokenProbability;
  if (words.length <= fewWords) return isUnspoken ? limits.any : limits.few;
  const seconds = (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);
  if (words.length < seconds * slowestWordsPerSecond) return limits.slow;
  return isUnspoken ? limits.unspoken : limits.any;
}

/** Whether whisper guessed all that it wrote; nothing written is nothing guessed. */
export function isAllInvented(utterances: readonly Utterance[]): boolean {
  const words = utterances.flatMap((utterance) => utterance.words);
  const noSpeechProbability = utterances[0]?.noSpeechProbability ?? 0;
  return words.length > 0 && isInvented({ words, noSpeechProbability });
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
