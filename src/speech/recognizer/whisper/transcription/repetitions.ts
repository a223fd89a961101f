import { deflateSync } from "node:zlib";
import type { EngineWord } from "../../../../timeline/index.ts";
import type { WhisperWord } from "../types.ts";

/** A phrase of `words` words that occurs `copies` times in a row. */
export interface Repetition {
  first: number;
  words: number;
  copies: number;
}

/** Maximum number of words in a phrase. */
const MAX_PHRASE_WORDS = 40;
/** Minimum copies, and words in all copies, of a repetition that needs a second pass; "no, no, no" does not. */
const least = { copies: 3, words: 6 };
/** Compression ratio above which a text repeats itself in some way; the threshold of OpenAI's transcribe.py. */
const MAX_COMPRESSION = 2.4;
/** Minimum length for the ratio: in shorter texts deflate's own bytes count. */
const MIN_BYTES = 100;
/** Seconds of the fastest speech for a letter, and for a character of a script that writes a syllable with one. */
const MIN_SECONDS = { letter: 0.045, syllable: 0.08 };
const syllables = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Finds repetitions of at least three copies and six words, in order. Ignores case and punctuation. */
export function findRepetitions(words: readonly WhisperWord[]): Repetition[] {
  const texts = words.map(plain);
  const found: Repetition[] = [];
  for (let first = 0; first < texts.length; ) {
    const repetition = longestAt(texts, first);
    if (repetition !== undefined) found.push(repetition);
    first += repetition === undefined ? 1 : repetition.words * repetition.copies;
  }
  return found;
}

/** Counts the words in repetitions. Text that is too uniform to have none counts as one. */
export function countRepeated(words: readonly WhisperWord[]): number {
  const inRepetitions = findRepetitions(words).reduce((sum, { words: length, copies }) => sum + length * copies, 0);
  return Math.max(inRepetitions, isUniform(words) ? 1 : 0);
}

/** Reduces each repetition to the number of copies that can be spoken in its time, but at least one. */
export function withoutImpossibleCopies(words: readonly WhisperWord[]): WhisperWord[] {
  let rest = 0;
  const kept: WhisperWord[] = [];
  for (const { first, words: length, copies } of findRepetitions(words)) {
    const end = first + length * copies;
    const seconds = (words[end - 1]?.endSeconds ?? 0) - (words[first]?.startSeconds ?? 0);
    const possible = Math.floor(seconds / shortestSeconds(words.slice(first, first + length)));
    kept.push(...words.slice(rest, first + length * Math.max(1, Math.min(copies, possible))));
    rest = end;
  }
  return [...kept, ...words.slice(rest)];
}

/**
 * Removes hurried copies: of two equal phrases in a row, one that takes less time than anybody needs to say it.
 * @param known words before the first of `words`; they stay
 */
export function withoutHurriedCopies(known: readonly EngineWord[], words: readonly EngineWord[]): EngineWord[] {
  const all = [...known];
  for (const word of words) {
    all.push(word);
    const length = copiedCount(all);
    if (length === 0) continue;
    const first = all.length - 2 * length;
    const knownCount = Math.max(0, known.length - first);
    const isHurried = (from: number) => isImpossible(all.slice(from, from + length));
    // Of a copy whose beginning is known, that stays, and the rest of the other one.
    if (isHurried(first + length)) all.length -= length;
    else if (knownCount < length && isHurried(first)) all.splice(first + knownCount, length);
  }
  return all.slice(known.length);
}

/** Returns the number of words at the end that repeat those before them; the longest such phrase. 0 if there is none. */
function copiedCount(words: readonly EngineWord[]): number {
  const texts = words.slice(-2 * MAX_PHRASE_WORDS).map(plain);
  for (let length = Math.floor(texts.length / 2); length > 0; length--) {
    if (texts.slice(-length).every((text, at) => text === texts[texts.length - 2 * length + at])) return length;
  }
  return 0;
}

/** Returns whether words take less time than anybody needs to say them. */
function isImpossible(words: readonly EngineWord[]): boolean {
  return (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0) < shortestSeconds(words);
}

/** Returns a word's text without case and punctuation. */
function plain({ text }: Pick<EngineWord, "text">): string {
  return text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, "");
}

/** Returns whether the words consist of one text at least five times in a row, even within a word: "wh-wh-wh". */
export function isOneRepetition(words: readonly WhisperWord[]): boolean {
  const text = words.map(plain).join("");
  return /^(.{1,40}?)\1{4,}$/u.test(text);
}

function isUniform(words: readonly WhisperWord[]): boolean {
  const bytes = Buffer.from(words.map(({ text }) => text).join(""));
  return bytes.length >= MIN_BYTES && bytes.length / deflateSync(bytes).length > MAX_COMPRESSION;
}

function shortestSeconds(words: readonly EngineWord[]): number {
  const text = words.map((word) => word.text.trim()).join("");
  const spelled = text.match(syllables)?.length ?? 0;
  return spelled * MIN_SECONDS.syllable + (text.length - spelled) * MIN_SECONDS.letter;
}

/** Returns the repetition at `first` that covers the most words; among equals the one with the shortest phrase. */
function longestAt(texts: readonly string[], first: number): Repetition | undefined {
  let best: Repetition | undefined;
  for (let words = 1; words <= MAX_PHRASE_WORDS && first + words * least.copies <= texts.length; words++) {
    let end = first + words;
    while (end < texts.length && texts[end] === texts[end - words]) end++;
    const copies = Math.floor((end - first) / words);
    const covered = words * copies;
    if (copies < least.copies || covered < least.words) continue;
    if (best === undefined || covered > best.words * best.copies) best = { first, words, copies };
  }
  return best;
}
