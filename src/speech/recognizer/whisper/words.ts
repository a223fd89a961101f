import type { NativePiece } from "./addon.ts";

/** The pieces of one word, with the space before it and the punctuation after it. */
export interface WordPieces {
  text: string;
  pieces: NativePiece[];
}

/** Languages written without spaces between words; in these, each piece from the model is a unit of its own. */
const withoutSpaces = new Set(["zh", "yue", "ja", "th", "lo", "my", "km", "bo"]);

/** Text without letters, digits and spoken signs. */
const onlyPunctuation = /^[\s\p{P}\p{Sk}]*$/u;
/** Combining marks, and the Thai and Lao vowels that follow their consonant although they count as letters. */
const startsWithMark = /^[\p{M}\u0E30-\u0E33\u0E45\u0EB0-\u0EB3]/u;
const endsInRun = /[\p{Script=Latin}\p{N}]$/u;
const startsWithRun = /^[\p{Script=Latin}\p{N}]/u;

/** Groups a segment's pieces into words; the joined texts of the words are the segment's text. */
export function groupWords(pieces: NativePiece[], language: string): WordPieces[] {
  const startsWord = withoutSpaces.has(language) ? startsUnit : startsSpacedWord;
  const words: WordPieces[] = [];
  for (const piece of pieces) {
    const last = words.at(-1);
    if (last === undefined || startsWord(piece.text, last.text)) {
      words.push({ text: piece.text, pieces: [piece] });
    } else {
      last.text += piece.text;
      last.pieces.push(piece);
    }
  }
  return attachPunctuation(words);
}

function startsSpacedWord(text: string): boolean {
  return text.startsWith(" ");
}

function startsUnit(text: string, before: string): boolean {
  if (text.startsWith(" ")) {
    return true;
  }
  // A vowel sign belongs to its consonant, and letters and digits of a foreign word belong together.
  return !startsWithMark.test(text) && !(endsInRun.test(before) && startsWithRun.test(text));
}

/** Attaches separate punctuation to the word before it, or to the next word at the start. */
function attachPunctuation(words: WordPieces[]): WordPieces[] {
  const attached: WordPieces[] = [];
  let leading: WordPieces | undefined;
  for (const word of words) {
    const last = attached.at(-1);
    if (!onlyPunctuation.test(word.text)) {
      attached.push(leading === undefined ? word : joined(leading, word));
      leading = undefined;
    } else if (last !== undefined) {
      attached[attached.length - 1] = joined(last, word);
    } else {
      leading = leading === undefined ? word : joined(leading, word);
    }
  }
  return leading === undefined ? attached : [...attached, leading];
}

function joined(first: WordPieces, second: WordPieces): WordPieces {
  return { text: first.text + second.text, pieces: [...first.pieces, ...second.pieces] };
}

/** Returns whether a text contains nothing that is spoken. */
export function isPunctuation(text: string): boolean {
  return onlyPunctuation.test(text);
}
