/** Ends of sentences in the scripts whisper writes, with a closing quote or bracket behind. */
const sentenceEnd = /[.?!…。？！｡।؟።]["'”’»)\]」』]*$/u;
/** A full stop behind these ends no sentence. */
const abbreviation = /^(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|z\.b|bzw|[a-z])\.$/iu;

/**
 * Whether a sentence ends with a word.
 * @param next the word after it; one that begins with a small letter goes on with the sentence
 */
export function endsSentence(word: string, next: string | undefined): boolean {
  const text = word.trim();
  if (!sentenceEnd.test(text) || abbreviation.test(text)) return false;
  return next === undefined || !/^\p{Ll}/u.test(next.trim());
}
