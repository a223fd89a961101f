import type { NativePiece } from "./addon.ts";

/** Pieces that make one word, with the space before it and the punctuation after it. */
export interface WordPieces {
  text: string;
  pieces: NativePiece[];
}

/** Languages that write without spaces between words; there every piece the model wrote is a unit of its own. */
const withoutSpaces = new Set(["zh", "yue", "ja", "th", "lo", "my", "km", "bo"]);

/** No letter, digit or sign that is spoken. */
const onlyPunctuation = /^[\s\p{P}\p{Sk}]*$/u;
/** Combining marks, and the Thai and Lao vowels that follow their consonant though Unicode calls them letters. */
const startsWithMark = /^[\p{M}\u0E30-\u0E33\u0E45\u0EB0-\u0EB3]/u;
const endsInRun = /[\p{Script=Latin}\p{N}]$/u;
const startsWithRun = /^[\p{Script=Latin}\p{N}]/u;

/** Groups a segment's pieces to words; their texts joined are the segment's text. */
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
  // a vowel sign belongs to its consonant, and letters and digits of a foreign word to each other
  return !startsWithMark.test(text) && !(endsInRun.test(before) && startsWithRun.test(text));
}

/** Punctuation that stands alone goes to the word before it, at the start to the one after it. */
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

/** Whether nothing of a text is spoken. */
export function isPunctuation(text: string): boolean {
  return onlyPunctuation.test(text);
}
