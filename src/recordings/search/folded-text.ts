/** Start and end of a span of text, in UTF-16 code units. */
export type TextSpan = [from: number, to: number];

/**
 * A text as searches compare it, in lower case, without accents and with plain spaces, and the origin of each code unit in the original.
 */
interface FoldedText {
  readonly text: string;
  /** Returns where the unit at `at` begins in the original text; for the folded text's length, the original's end. */
  originOf(at: number): number;
}

/**
 * Accents of Latin, Greek and Cyrillic letters, and selectors of a variant of a character. The combining marks of other
 * scripts count as letters.
 */
const accents = /[\u0300-\u036f]|\p{Variation_Selector}/gu;
/** Spaces look alike, so people search each of them with the space bar. */
const anySpace = /\s/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\x00-\x7f]*$/;

/** Folds a text: removes accents and converts letters to lower case. */
export function foldText(text: string): FoldedText {
  if (ascii.test(text)) return { text: text.toLowerCase(), originOf: (at) => at };
  let folded = "";
  const origins: number[] = [];
  let position = 0;
  for (const character of text) {
    const plain = character
      .normalize("NFD")
      .replace(accents, "")
      .normalize("NFC")
      .toLowerCase()
      .replace("ς", "σ")
      .replace(anySpace, " ");
    folded += plain;
    for (let unit = 0; unit < plain.length; unit++) origins.push(position);
    position += character.length;
  }
  return { text: folded, originOf: (at) => origins[at] ?? text.length };
}

/** Finds all occurrences of a text in another, ignoring case and accents; they do not overlap. */
export function findAll(text: string, wanted: string): TextSpan[] {
  const folded = foldText(text);
  const sought = foldText(wanted).text.replace(/ +/g, " ").trim();
  const spans: TextSpan[] = [];
  if (sought === "") return spans;
  for (let at = folded.text.indexOf(sought); at >= 0; at = folded.text.indexOf(sought, at + sought.length)) {
    spans.push([folded.originOf(at), folded.originOf(at + sought.length)]);
  }
  return spans;
}
