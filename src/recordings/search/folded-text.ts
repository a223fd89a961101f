/** From and to in a text, in UTF-16 code units. */
export type TextSpan = [from: number, to: number];

/** A text as searches compare it: in small letters, without accents; and where in the text each unit of that came from. */
interface FoldedText {
  readonly text: string;
  /** Of the unit at `at`, where it begins in the text as it was; of the length, where that ends. */
  originOf(at: number): number;
}

/** Accents of Latin, Greek and Cyrillic letters; the marks of other scripts are letters by themselves. */
const accents = /[\u0300-\u036f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\x00-\x7f]*$/;

/** Folds a text: its letters without accents, in lower case. */
export function foldText(text: string): FoldedText {
  if (ascii.test(text)) return { text: text.toLowerCase(), originOf: (at) => at };
  let folded = "";
  const origins: number[] = [];
  let position = 0;
  for (const character of text) {
    const plain = character.normalize("NFD").replace(accents, "").normalize("NFC").toLowerCase().replace("ς", "σ");
    folded += plain;
    for (let unit = 0; unit < plain.length; unit++) origins.push(position);
    position += character.length;
  }
  return { text: folded, originOf: (at) => origins[at] ?? text.length };
}

/** Everywhere in a text that another stands, whatever its case and accents; none overlaps the one before. */
export function findAll(text: string, wanted: string): TextSpan[] {
  const folded = foldText(text);
  const sought = foldText(wanted).text.replace(/\s+/g, " ").trim();
  const spans: TextSpan[] = [];
  if (sought === "") return spans;
  for (let at = folded.text.indexOf(sought); at >= 0; at = folded.text.indexOf(sought, at + sought.length)) {
    spans.push([folded.originOf(at), folded.originOf(at + sought.length)]);
  }
  return spans;
}
