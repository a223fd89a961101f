import { foldText, type TextSpan } from "./folded-text.ts";

/**
 * Scripts without spaces between words, for a regular expression. Each character is indexed as a word, and several are
 * searched as a phrase.
 */
export const spaceless =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const spacelessCharacter = new RegExp(`[${spaceless}]`, "gu");
/** A word as the index sees it. */
const token = new RegExp(`[${spaceless}]|(?:(?![${spaceless}])[\\p{L}\\p{M}\\p{N}\\p{Co}])+`, "gu");

/** Converts a text into the indexed form: folded, with spaces around each character of scripts without spaces. */
export function indexedText(text: string): string {
  return foldText(text).text.replace(spacelessCharacter, " $& ");
}

/** Consecutive words; if `isPrefix` is set, the last one is a prefix. */
interface Phrase {
  readonly words: readonly PlacedWord[];
  readonly isPrefix: boolean;
}

/**
 * Minimum length of a prefix; fewer letters are searched as a whole word. For a prefix, the index merges the positions
 * of all words that begin with it.
 */
const MIN_PREFIX_LETTERS = 4;
const MAX_PHRASES = 12;

/** A search query: one segment must have all its words, in any order; words in quotation marks must be consecutive. */
export class SearchQuery {
  readonly #phrases: readonly Phrase[];

  constructor(text: string) {
    const parts = text.split('"');
    const phrases = parts.flatMap((part, place) => (place % 2 === 1 ? [part] : part.split(/\s+/u)));
    // The last word may still be incomplete, unless the text ends with a space. If it ends with a quotation mark, the
    // part after it is empty.
    const isOpen = !/\s$/u.test(text);
    const tokenized = phrases.map(wordsOf);
    const last = tokenized.length - 1;
    this.#phrases = tokenized
      .map((words, place) => ({ words, isPrefix: isOpen && place === last && isLongEnough(words.at(-1)) }))
      .filter(({ words }) => words.length > 0)
      .slice(0, MAX_PHRASES);
  }

  /** Whether the query has no words. */
  get isEmpty(): boolean {
    return this.#phrases.length === 0;
  }

  /** Whether a word is searched as a prefix; the cost grows with the number of words that begin with it. */
  get hasPrefix(): boolean {
    return this.#phrases.some(({ isPrefix }) => isPrefix);
  }

  /** The query in the syntax of SQLite's FTS5: strings of letters and digits only. */
  get expression(): string {
    return this.#phrases.map(({ words, isPrefix }) => quoted(words) + (isPrefix ? "*" : "")).join(" ");
  }

  /** Returns the matches in a text, in order and without overlap. */
  marksIn(text: string): TextSpan[] {
    const words = wordsOf(text);
    const spans = this.#phrases.flatMap((phrase) =>
      words.flatMap((first, from): TextSpan[] => {
        const last = words[from + phrase.words.length - 1];
        return last !== undefined && fits(phrase, words, from) ? [[first.from, last.to]] : [];
      }),
    );
    const inOrder = spans.toSorted((a, b) => a[0] - b[0] || b[1] - a[1]);
    let reached = 0;
    return inOrder.filter(([from, to]) => {
      const isFree = from >= reached;
      if (isFree) reached = to;
      return isFree;
    });
  }
}

interface PlacedWord {
  /** Folded form of the word. */
  readonly word: string;
  /** Position in the text. */
  readonly from: number;
  readonly to: number;
}

function wordsOf(text: string): PlacedWord[] {
  const folded = foldText(text);
  return [...folded.text.matchAll(token)].map((match) => {
    const [word] = match;
    return { word, from: folded.originOf(match.index), to: folded.originOf(match.index + word.length) };
  });
}

function fits({ words: sought, isPrefix }: Phrase, words: readonly PlacedWord[], from: number): boolean {
  return sought.every(({ word }, place) => {
    const candidate = words[from + place]?.word ?? "";
    return isPrefix && place === sought.length - 1 ? candidate.startsWith(word) : candidate === word;
  });
}

function quoted(words: readonly PlacedWord[]): string {
  return `"${words.map(({ word }) => word).join(" ")}"`;
}

function isLongEnough(last: PlacedWord | undefined): boolean {
  return [...(last?.word ?? "")].length >= MIN_PREFIX_LETTERS;
}
