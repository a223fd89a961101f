import type { TextSpan } from "./folded-text.ts";

/** Part of a text with what was found in it. */
interface Snippet {
  /** `…` stands where something was left out. */
  readonly text: string;
  readonly marks: TextSpan[];
}

const mostCharacters = 160;
/** What is shown of what stands before the first mark. */
const before = 50;

/** The part of a text around the first mark, cut between words where there are some. */
export function snippetOf(text: string, marks: TextSpan[]): Snippet {
  if (text.length <= mostCharacters) return { text, marks };
  const first = marks[0]?.[0] ?? 0;
  const from = first <= before ? 0 : wordAfter(text, first - before, first);
  const to = from + mostCharacters >= text.length ? text.length : wordBefore(text, from + mostCharacters, from);
  const head = from === 0 ? "" : "…";
  const shown = marks.filter(([begin, end]) => begin >= from && end <= to);
  return {
    text: head + text.slice(from, to) + (to === text.length ? "" : "…"),
    marks: shown.map(([begin, end]) => [begin - from + head.length, end - from + head.length]),
  };
}

/** The beginning of the next word; without one, where a character begins. */
function wordAfter(text: string, at: number, most: number): number {
  const space = text.slice(at, most).search(/\s\S/u);
  return space < 0 ? characterAt(text, at) : at + space + 1;
}

function wordBefore(text: string, at: number, least: number): number {
  const space = text.slice(least, at).search(/\s+\S*$/u);
  return space <= mostCharacters / 2 ? characterAt(text, at) : least + space;
}

/** Not between the two halves of a character beyond 16 bits. */
function characterAt(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at - 1 : at;
}
