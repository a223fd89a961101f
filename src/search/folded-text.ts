/** Start and end of a span of text, in UTF-16 code units. */
export type TextSpan = [from: number, to: number];

/** A text as searches compare it, see `foldText`. */
interface FoldedText {
  readonly text: string;
  /** Returns the span of the original text from which a span of the folded text comes; neither is empty. */
  spanOf(from: number, to: number): TextSpan;
}

/** A text that folding only converts to lower case: ASCII in which no spaces follow each other. */
const plain = /^(?:[!-~]| (?! ))*$/;

/**
 * A part of a text that is folded as one: some ASCII; spaces; the letters of a Korean syllable; a character with its
 * combining marks. The sound marks of half-width Katakana count as combining marks. A character has at most 30 marks in
 * real texts.
 */
const part =
  /(?<ascii>[!-~]+)(?![\p{M}\uff9e\uff9f])|[^\S\ufeff]+|[\u1100-\u115f\uac00-\ud7a3][\u1160-\u11ff]*|\P{M}[\p{M}\uff9e\uff9f]{0,30}|[\p{M}\uff9e\uff9f]/gu;

/**
 * Characters that people leave out when they type: accents of Latin, Greek and Cyrillic letters, the vowel signs of
 * Hebrew and Arabic with the Arabic hamza on a letter and the tatweel, and characters that nobody sees, such as the soft
 * hyphen and joiners. The combining marks of other scripts count as letters.
 */
const omitted =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0898-\u089f\u08ca-\u08ff\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Letters, in lower case, of which Unicode does not know the simple form that people type. `ı` and `i` are the same,
 * because a search does not know whether `I` is Turkish. The Arabic ones follow Lucene's normalizers of Arabic and Persian.
 */
const simpler = new Map(
  Object.entries({
    ...{ ß: "ss", æ: "ae", œ: "oe", þ: "th", ø: "o", đ: "d", ð: "d", ł: "l", ħ: "h", ŧ: "t", ŋ: "n", ı: "i", ȷ: "j" },
    ...{ ɓ: "b", ɗ: "d", ƙ: "k", ƴ: "y", ς: "σ" },
    ...{ "\u0671": "\u0627", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643" },
    ...{ "\u0629": "\u0647", "\u06c1": "\u0647", "\u06d5": "\u0647" },
  }),
);

/** Quotation marks and hyphens of many forms, and the forms that people type. */
const typed: readonly (readonly [RegExp, string])[] = [
  [/[\u00b4\u02b9\u02bb-\u02bd\u055a\u05f3\u2018-\u201b\u2032\u2035\ua78b\ua78c\uff07]/g, "'"],
  [/[\u00ab\u00bb\u05f4\u201c-\u201f\u2033\u2036\uff02]/g, '"'],
  [/[\p{Pd}\u2212]/gu, "-"],
];
const spaces = /[^\S\ufeff]/;
const decimal = /^\p{Nd}$/u;
const otherDecimals = /(?!\d)\p{Nd}/gu;

/**
 * Folds a text, so that texts which people consider the same are equal: removes accents and vowel signs, converts letters
 * to lower case and to a simple form, and replaces forms of the same character, such as full-width letters.
 */
export function foldText(text: string): FoldedText {
  if (plain.test(text)) return { text: text.toLowerCase(), spanOf: (from, to) => [from, to] };
  let folded = "";
  /** For each code unit of the folded text, the position of the part that it comes from. */
  const origins: number[] = [];
  for (const { 0: source, index, groups } of text.matchAll(part)) {
    let position = index;
    for (const unit of groups?.ascii === undefined ? unitsOf(source) : source) {
      const result = groups?.ascii === undefined ? foldedUnit(unit) : unit.toLowerCase();
      folded += result;
      for (let count = 0; count < result.length; count++) origins.push(position);
      position += unit.length;
    }
  }
  const spanOf = (from: number, to: number): TextSpan => {
    const last = origins[to - 1] ?? 0;
    let next = to;
    // Units that were omitted after a character, and the rest of a part that gave several units, belong to it.
    while (origins[next] === last) next += 1;
    return [origins[from] ?? 0, origins[next] ?? text.length];
  };
  return { text: folded, spanOf };
}

/** Finds all occurrences of a text in another, as folding compares them; they do not overlap. */
export function findAll(text: string, wanted: string): TextSpan[] {
  const folded = foldText(text);
  const sought = foldText(wanted).text.trim();
  const spans: TextSpan[] = [];
  if (sought === "") return spans;
  let reached = 0;
  for (let at = folded.text.indexOf(sought); at >= 0; at = folded.text.indexOf(sought, at + sought.length)) {
    const span = folded.spanOf(at, at + sought.length);
    if (span[0] < reached) continue;
    spans.push(span);
    reached = span[1];
  }
  return spans;
}

/** Returns the parts of which each has its own position: a mark that changes the character before it has none. */
function unitsOf(source: string): Iterable<string> {
  if (source.length === 1 || spaces.test(source)) return [source];
  return source.normalize("NFKC") === source ? source : [source];
}

/** Results of `foldPart` for single code units, of which there are at most 65,536. */
const known = new Map<string, string>();

function foldedUnit(source: string): string {
  if (source.length > 1) return foldPart(source);
  const result = known.get(source) ?? foldPart(source);
  known.set(source, result);
  return result;
}

function foldPart(source: string): string {
  if (spaces.test(source)) return " ";
  const usual = typed.reduce((text, [forms, form]) => text.replace(forms, form), source);
  const letters = usual.normalize("NFKD").replace(omitted, "").normalize("NFC").toLowerCase();
  return [...letters.replace(otherDecimals, asciiDigit)].map((letter) => simpler.get(letter) ?? letter).join("");
}

/** Returns a decimal digit of any script as a digit of ASCII. The ten digits of a script follow each other. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && decimal.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}
