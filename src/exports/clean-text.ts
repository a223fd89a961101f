/**
 * Invisible characters that change how the text around them is displayed, or that XML or Unicode's rules for
 * interchange forbid.
 */
const unsafe = new RegExp(
  [
    "[\\u202A-\\u202E\\u2066-\\u2069]", // bidirectional embeddings, overrides, isolates: could reverse adjacent text
    "[\\uFEFF\\uFFF9-\\uFFFB]", // byte order mark, interlinear annotations
    "[\\u206A-\\u206F]", // deprecated format characters
    "[\\u{E0000}-\\u{E0FFF}]", // tags
  ].join("|"),
  "gu",
);

/**
 * Combining marks beyond the 30 on a letter that UAX #15 permits in stream-safe text; no language comes near this
 * limit.
 */
const excessMarks = /(\p{M}{30})\p{M}+/gu;
const noncharacters = /\p{Noncharacter_Code_Point}/gu;
/** Characters that are replaced by a space: controls, line and paragraph separators. No-break spaces stay. */
const blanks = /[\p{Cc}\u2028\u2029 ]+/gu;

const nothingVisible = /^[\p{Default_Ignorable_Code_Point}\s]*$/u;
/** Text that needs no cleaning, which is the usual case. It is returned without a check of every character. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Cleans a text so that it fits on a line of any format: well-formed, without controls, line ends or direction
 * overrides, with blanks collapsed. All visible characters stay, and also joiners and direction marks, which scripts
 * need. Returns an empty text if nothing is visible.
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

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for use between the tags of XML, and of WebVTT, which has the same entities. */
export function xmlText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}

/** Escapes text for use in an attribute of XML between double quotation marks. */
export function xmlAttribute(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
