/** Invisible characters that change how the text around them is shown, or are forbidden in XML or by Unicode's rules for interchange. */
const unsafe = new RegExp(
  [
    "[\\u202A-\\u202E\\u2066-\\u2069]", // bidirectional embeddings, overrides and isolates: they could turn a neighbour's text
    "[\\uFEFF\\uFFF9-\\uFFFB]", // byte order mark, interlinear annotations
    "[\\u206A-\\u206F]", // deprecated format characters
    "[\\u{E0000}-\\u{E0FFF}]", // tags
  ].join("|"),
  "gu",
);

/** As many marks on a letter as UAX #15 allows in stream-safe text; no language comes near. */
const excessMarks = /(\p{M}{30})\p{M}+/gu;
const noncharacters = /\p{Noncharacter_Code_Point}/gu;
/** Controls, line and paragraph separators count as spaces. No-break spaces stay themselves. */
const blanks = /[\p{Cc}\u2028\u2029 ]+/gu;

const nothingVisible = /^[\p{Default_Ignorable_Code_Point}\s]*$/u;
/** Most text is this; it needs no look at every character. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Text that can stand on a line of any format: well-formed, without controls, line ends or direction overrides, blanks
 * collapsed. Everything visible stays as it is, joiners and direction marks too, as scripts need them. Where nothing is
 * visible, the text is empty.
 */
export function cleanText(text: string): string {
  if (plain.test(text)) return text;
  const clean = text
    .toWellFormed()
    .replace(unsafe, "")
    .replace(noncharacters, "\uFFFD")
    .replace(excessMarks, "$1")
    .replace(blanks, " ")
    .trim();
  return nothingVisible.test(clean) ? "" : clean;
}
