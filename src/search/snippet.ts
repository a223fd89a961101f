import type { TextSpan } from "./folded-text.ts";

/** A part of a text with its matches. */
interface Snippet {
  /** Omitted text is replaced by `…`. */
  readonly text: string;
  readonly marks: TextSpan[];
}

const MAX_CHARACTERS = 160;
/** Number of characters shown before the first match. */
const CHARACTERS_BEFORE_MATCH = 50;

/** Returns the part of a text around the first match, cut between words if possible. */
export function snippetOf(text: string, marks: TextSpan[]): Snippet {
  if (text.length <= MAX_CHARACTERS) return { text, marks };
  const first = marks[0]?.[0] ?? 0;
  const from = first <= CHARACTERS_BEFORE_MATCH ? 0 : wordAfter(text, first - CHARACTERS_BEFORE_MATCH, first);
  const to = from + MAX_CHARACTERS >= text.length ? text.length : wordBefore(text, from + MAX_CHARACTERS, from);
  const head = from === 0 ? "" : "…";
  const shown = marks.filter(([begin, end]) => begin >= from && end <= to);
  return {
    text: head + text.slice(from, to) + (to === text.length ? "" : "…"),
    marks: shown.map(([begin, end]) => [begin - from + head.length, end - from + head.length]),
  };
}

/** Returns the beginning of the next word, or of a character if no word follows. */
function wordAfter(text: string, at: number, most: number): number {
  const space = text.slice(at, most).search(/\s\S/u);
  return space < 0 ? characterAt(text, at) : at + space + 1;
}

function wordBefore(text: string, at: number, least: number): number {
  const space = text.slice(least, at).search(/\s+\S*$/u);
  return space <= MAX_CHARACTERS / 2 ? characterAt(text, at) : least + space;
}

/** Moves a position back if it lies between the two halves of a surrogate pair. */
function characterAt(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at - 1 : at;
}
