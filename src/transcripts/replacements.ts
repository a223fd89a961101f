import { findAll, foldText, type TextSpan } from "../search/index.ts";
import { cleanText } from "../text/index.ts";
import { CorrectionError, MAX_TEXT_CHARACTERS, type Replacement } from "./correction.ts";

const letter = /[\p{L}\p{M}\p{N}]/u;

/** Returns the places in a text that a replacement replaces. */
export function placesToReplace(text: string, replacement: Replacement): TextSpan[] {
  const { find, matches_case, whole_words } = replacement;
  const places = matches_case ? exactPlaces(text, find) : wholePlaces(text, find);
  return whole_words ? places.filter((place) => isWholeWord(text, place)) : places;
}

/**
 * Requires that a replacement does not make a text too long. A long text may still become shorter.
 * @param places the places that are replaced
 * @throws {CorrectionError} `text_too_long`
 */
export function requireShort(text: string, { replacement }: Replacement, places: readonly TextSpan[]): void {
  const removed = places.reduce((sum, [from, to]) => sum + to - from, 0);
  const length = text.length - removed + places.length * replacement.length;
  if (length > Math.max(MAX_TEXT_CHARACTERS, text.length)) throw new CorrectionError("text_too_long");
}

/**
 * Returns a text after a replacement, in the form of corrections.
 * @param places the places that are replaced
 * @throws as `requireShort`, before the text takes memory
 */
export function replaceIn(text: string, replacement: Replacement, places: readonly TextSpan[]): string {
  // A text without a match stays as it is, also its spaces.
  if (places.length === 0) return text;
  requireShort(text, replacement, places);
  let reached = 0;
  const parts = places.map(([from, to]) => {
    const before = text.slice(reached, from);
    reached = to;
    return before + replacement.replacement;
  });
  return cleanText(parts.join("") + text.slice(reached));
}

/** Returns the places that fold to a text, and to no more: `s` finds `ß`, but must not replace it. */
function wholePlaces(text: string, find: string): TextSpan[] {
  const sought = foldText(find).text.trim();
  return findAll(text, find).filter(([from, to]) => foldText(text.slice(from, to)).text === sought);
}

function exactPlaces(text: string, find: string): TextSpan[] {
  const places: TextSpan[] = [];
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + find.length)) {
    places.push([at, at + find.length]);
  }
  return places;
}

function isWholeWord(text: string, [from, to]: TextSpan): boolean {
  const before = [...text.slice(Math.max(0, from - 2), from)].at(-1) ?? "";
  const after = [...text.slice(to, to + 2)][0] ?? "";
  return !letter.test(before) && !letter.test(after);
}
