import { foldText, type TextSpan } from "./folded-text.ts";

/** Scripts that put no space between words: each of their characters is sought for itself, and several as a phrase. */
const spaceless =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const spacelessCharacter = new RegExp(`[${spaceless}]`, "gu");
/** What the index takes for a word. */
const token = new RegExp(`[${spaceless}]|(?:(?![${spaceless}])[\\p{L}\\p{M}\\p{N}\\p{Co}])+`, "gu");

/** A text as it is put into the index: folded, its words parted by what is no letter or digit. */
export function indexedText(text: string): string {
  return foldText(text).text.replace(spacelessCharacter, " $& ");
}

/** Words that follow each other; of the last one the beginning is enough where it says so. */
interface Phrase {
  readonly words: readonly PlacedWord[];
  readonly isBeginning: boolean;
}

/** Fewer letters are a word by themselves: the index puts together the places of all words that begin so. */
const leastBeginning = 4;
const mostPhrases = 12;

/** What somebody looks for: all of its words in one segment, in any order; those in quotation marks in theirs. */
export class SearchQuery {
  readonly #phrases: readonly Phrase[];

  constructor(text: string) {
    const parts = text.split('"');
    const phrases = parts.flatMap((part, place) => (place % 2 === 1 ? [part] : part.split(/\s+/u)));
    // What is still being typed; quotation marks that end the text leave nothing behind them.
    const isOpen = !/\s$/u.test(text);
    const worded = phrases.map(wordsOf);
    const last = worded.length - 1;
    this.#phrases = worded
      .map((words, place) => ({ words, isBeginning: isOpen && place === last && isLong(words.at(-1)) }))
      .filter(({ words }) => words.length > 0)
      .slice(0, mostPhrases);
  }

  /** Whether there is nothing in it to look for. */
  get isEmpty(): boolean {
    return this.#phrases.length === 0;
  }

  /** Whether it takes the beginning of a word for the word: that costs the index the more, the more there is of such. */
  get hasBeginning(): boolean {
    return this.#phrases.some(({ isBeginning }) => isBeginning);
  }

  /** In the language of SQLite's FTS5: strings, of letters and digits alone. */
  get expression(): string {
    return this.#phrases.map(({ words, isBeginning }) => quoted(words) + (isBeginning ? "*" : "")).join(" ");
  }

  /** Where in a text it is found, in order and without overlap. */
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
  /** Folded. */
  readonly word: string;
  /** Where in the text it stands. */
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

function fits({ words: sought, isBeginning }: Phrase, words: readonly PlacedWord[], from: number): boolean {
  return sought.every(({ word }, place) => {
    const said = words[from + place]?.word ?? "";
    return isBeginning && place === sought.length - 1 ? said.startsWith(word) : said === word;
  });
}

function quoted(words: readonly PlacedWord[]): string {
  return `"${words.map(({ word }) => word).join(" ")}"`;
}

function isLong(last: PlacedWord | undefined): boolean {
  return [...(last?.word ?? "")].length >= leastBeginning;
}
