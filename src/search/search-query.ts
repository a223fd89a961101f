import { foldText, type TextSpan } from "./folded-text.ts";

/** Scripts without spaces between words, for a regular expression. */
export const spaceless =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
/**
 * Scripts of which each character is a word of the index, and several are searched as a phrase. Korean has spaces, but
 * its nouns carry particles (`학교`, `학교에서`), and compounds contain other nouns (`대학교`).
 */
const single = `${spaceless}\\p{Script=Hangul}`;
const letter = "\\p{L}\\p{M}\\p{N}\\p{Co}";
/** A word as the index sees it, in a folded text; or what is between two Korean words. */
const token = new RegExp(
  `[${single}]|(?:(?![${single}])[${letter}])+|(?<=\\p{Script=Hangul})(?<gap>[^${letter}]+)(?=\\p{Script=Hangul})`,
  "gu",
);
/** Word of the index between two Korean words, so that no phrase reaches from one into the other. It is for private use. */
const GAP = "\ue000";

/**
 * Converts a text into the indexed form: its words, with spaces between them. A change of the words, or of `foldText`,
 * needs a migration that empties the index, such as 0019.
 */
export function indexedText(text: string): string {
  return wordsOf(text)
    .map(({ word }) => word)
    .join(" ");
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
const quotationMark = /["\u00ab\u00bb\u201c-\u201f\uff02]/;

/** A search query: one segment must have all its words, in any order; words in quotation marks must be consecutive. */
export class SearchQuery {
  readonly #phrases: readonly Phrase[];

  constructor(text: string) {
    const parts = text.split(quotationMark);
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
  return [...folded.text.matchAll(token)].map(({ 0: found, index, groups }) => {
    const [from, to] = folded.spanOf(index, index + found.length);
    return { word: groups?.gap === undefined ? found : GAP, from, to };
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
