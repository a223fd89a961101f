/** Punctuation at the end of a clause. */
const clauseMark = /[,;:،؛、，；：·–—-]["'”’»›)\]」』）】]*$/u;
const opening = /^["'“‘„«‹([「『（【¿¡-]+/u;

/** Titles and other abbreviations that precede a name or a number, so they never end a sentence. Case-sensitive. */
const neverEndSentence = new Set(
  (
    "Mr Mrs Ms Dr Prof Rev Gen Lt Sgt Capt Cpt Maj Cmdr Adm Gov Mt Ft vs approx Dept Nos pp resp cf " +
    "Hr Nr bzw Dipl evtl ggf inkl exkl zzgl Tel Abb Bd Hrsg Mme Mlle Mgr Sra Srta Dra Dña Uds Núm Pág Exmo Exma " +
    "Sig Dott Avv Dhr Mevr bijv ул проф акад"
  ).split(" "),
);
/** Abbreviations that may also end a sentence, and abbreviations that are words as well. */
const mayEndSentence = new Set(
  (
    "St Sr Jr No no etc usw ecc enz Inc Ltd Co Corp Bros Max Min max min Mio Mrd Str Ave Blvd Av Col Sen Rep Pres Hon Fig " +
    "Vol Fr Ing Art Kap sog Ud Mw ca им св см тыс млн руб"
  ).split(" "),
);

/**
 * Kind of boundary between two words of one speaker, in the order from the most to the least suitable for a split:
 * "sentence" at the end of a sentence; "perhaps" where a sentence may end, after a number or an abbreviation; "clause"
 * at the end of a clause; "open" without punctuation; "bound" where the words belong together.
 */
export type Boundary = "sentence" | "perhaps" | "clause" | "open" | "bound";

/**
 * Determines the boundary between a word and the next one from their spelling.
 * @param next empty if no word follows
 */
export function boundaryBetween(word: string, next: string): Boundary {
  const text = word.trim();
  const following = next.trim().replace(opening, "");
  const mark = sentenceMark(text);
  if (mark === undefined) {
    // "10 000", or "3, 5" with a decimal comma
    if (/\d[.,]?$/u.test(text) && /^\d/u.test(following)) return "bound";
    return clauseMark.test(text) ? "clause" : "open";
  }
  const continues = /^[\p{Ll}\p{P}]/u.test(following);
  if (mark !== ".") return continues ? "clause" : "sentence";
  return afterFullStop(text.replace(opening, ""), following, continues);
}

function afterFullStop(text: string, following: string, continues: boolean): Boundary {
  const stem = text.slice(0, text.lastIndexOf("."));
  if (neverEndSentence.has(stem)) return "bound";
  // J. F. Kennedy; but the English I may end a sentence
  if (/^\p{L}$/u.test(stem)) return stem === "I" && !continues ? "perhaps" : "bound";
  // e.g., z.B., U.S., p.m.
  if (/^\p{L}{1,2}(\.\p{L}{1,2})+$/u.test(stem)) return continues ? "bound" : "perhaps";
  // No. 5, St. Paul, usw.
  if (mayEndSentence.has(stem))
    return continues || (/^no$/i.test(stem) && /^\d/u.test(following)) ? "bound" : "perhaps";
  // "the 3. of May", as many languages write ordinals
  if (/^\p{N}{1,2}$/u.test(stem)) return continues ? "bound" : "perhaps";
  return continues ? "clause" : "sentence";
}

/** Sentence-ending marks of the scripts that the recognizer writes, followed by optional closing quotes and brackets. */
const sentenceEnd = /(?<mark>[.?!…。？！｡।॥؟۔։።፧។៕။།]+)["'”’»›)\]」』）】]*$/u;

/**
 * Returns the sentence-ending marks at the end of a text, e.g. "." or "?!"; undefined if there are none. The full stop
 * of an abbreviation counts as well.
 */
export function sentenceMark(text: string): string | undefined {
  return sentenceEnd.exec(text)?.groups?.mark;
}
