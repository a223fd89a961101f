/** Invisible characters that change how the text around them is displayed, or that Unicode keeps out of plain text. */
const unsafe = new RegExp(
  [
    "[\\u202A-\\u202E\\u2066-\\u2069]", // bidirectional embeddings, overrides, isolates: could reverse adjacent text
    "[\\uFEFF\\uFFF9-\\uFFFB]", // byte order mark, interlinear annotations
    "[\\u206A-\\u206F]", // deprecated format characters
    "(?![\\s\\u0085])\\p{Cc}", // controls that are no white space
  ].join("|"),
  "gu",
);

/** The letters and digits of an emoji tag sequence, and the tag that ends it. */
const tag = { letter: "[\\u{E0061}-\\u{E007A}]", digit: "[\\u{E0030}-\\u{E0039}]", end: "\\u{E007F}" } as const;

/**
 * Tags and variation selectors have no glyph and can encode any hidden text, such as instructions for a language model
 * that reads a transcript. They stay only in two well-formed sequences, which the groups match:
 * 1. the flag of a part of a country, such as England: a black flag with the code of a region and of a subdivision
 *    (UTS #51, ED-14a; UTS #35, unicode_subdivision_id);
 * 2. an ideographic variation sequence: an ideograph with one selector (UTS #37).
 */
const supplementaryTags = new RegExp(
  [
    `(\\u{1F3F4}\\uFE0F?(?:${tag.letter}{2}|${tag.digit}{3})(?:${tag.letter}|${tag.digit}){1,4}${tag.end})`,
    "(\\p{Ideographic}[\\u{E0100}-\\u{E01EF}])",
    "[\\u{E0000}-\\u{E0FFF}]",
  ].join("|"),
  "gu",
);

/**
 * Variation selectors of emoji, symbols and Mongolian letters that do not follow a visible character. In a variation
 * sequence one selector follows its character directly (Unicode, 23.4). More of them could encode hidden text, too.
 */
const straySelectors = /(?<![^\p{Default_Ignorable_Code_Point}\s\u0085])[\uFE00-\uFE0F\u180B-\u180D\u180F]/gu;

/**
 * Combining marks beyond the 30 on a letter that UAX #15 permits in stream-safe text; no language comes near this
 * limit.
 */
const excessMarks = /(\p{M}{30})\p{M}+/gu;
const noncharacters = /\p{Noncharacter_Code_Point}/gu;
/** Line ends, tabs and plain spaces. All other spaces are meant: no-break spaces, and those of East Asian scripts. */
const blanks = /(?:[\u0085\u2028\u2029 ]|(?=\s)\p{Cc})+/gu;
const lineBlanks = /[\u0085\u2028\u2029]|(?=\s)\p{Cc}/gu;

const nothingVisible = /^[\p{Default_Ignorable_Code_Point}\s]*$/u;
/** Text that needs no cleaning, which is the usual case. It is returned without a check of every character. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Cleans a text so that it fits on a line of any format: well-formed, without controls, line ends, direction overrides
 * and hidden text. All visible characters stay, and the invisible ones that change how those are written: joiners,
 * direction marks, selectors and the tags of flags.
 * @param spaces whether several plain spaces become one
 * @returns the text without surrounding space; empty if nothing is visible
 */
export function cleanText(text: string, spaces: "single" | "as typed" = "single"): string {
  if (plain.test(text)) return text;
  const clean = text
    .toWellFormed()
    .replace(unsafe, "")
    .replace(supplementaryTags, "$1$2")
    .replace(straySelectors, "")
    .replace(noncharacters, "\uFFFD")
    .replace(excessMarks, "$1")
    .replace(spaces === "single" ? blanks : lineBlanks, " ")
    .trim();
  return nothingVisible.test(clean) ? "" : clean;
}
