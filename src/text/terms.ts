import { cleanText } from "./clean-text.ts";

/**
 * Line and paragraph separators, direction overrides and isolates, surrogates, unassigned code points, and control
 * characters except line ends and tabs.
 */
const FORBIDDEN_CHARACTERS = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Cn}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Punctuation at the end of a line that separates it from the next one. */
const SEPARATOR_AT_END = /[.,;:!?、，。；：！？،؛۔।]$/u;

/** Why a text is no list of names and terms. */
type TermsFlaw = "control_characters" | "no_term";

/**
 * Normalizes names and terms to the single line that the recognizer receives. Lines are joined with a comma unless they
 * end with a separator.
 */
export function normalizeTerms(text: string): { ok: true; terms: string } | { ok: false; flaw: TermsFlaw } {
  if (FORBIDDEN_CHARACTERS.test(text)) return { ok: false, flaw: "control_characters" };
  const lines = text.normalize("NFC").split(/[\r\n]+/);
  const terms = joinTerms(lines.map((line) => cleanText(line)));
  return /[\p{L}\p{N}]/u.test(terms) ? { ok: true, terms } : { ok: false, flaw: "no_term" };
}

/** Joins lines of names and terms into one, with a comma after each line that does not end with a separator. */
export function joinTerms(lines: readonly string[]): string {
  const entries = lines.filter((line) => line !== "");
  return entries
    .map((line, index) => (index === entries.length - 1 || SEPARATOR_AT_END.test(line) ? line : `${line},`))
    .join(" ");
}
