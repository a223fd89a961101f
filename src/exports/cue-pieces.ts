import { breakablePieces, graphemesOf } from "./break-points.ts";
import type { ExportSegment } from "./document.ts";
import { leadsOn } from "./leading-words.ts";
import { WordTimes } from "./word-times.ts";

/** The least part of a subtitle: text that no line breaks in. */
export interface CuePiece {
  /** With the space behind it. */
  readonly text: string;
  /** Columns of the text, and of the space behind it. */
  readonly width: number;
  readonly spaceWidth: number;
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  /** Whether it belongs with the piece behind it, as an article does. */
  readonly leadsOn: boolean;
}

/**
 * A segment's text in pieces of at most `maxWidth` columns. A column is a Latin letter's width; East Asian wide characters
 * take two, combining marks none.
 * @param text the segment's text as `cleanText` gives it
 * @param language ISO 639-1; null: not known
 */
export function cuePieces(
  segment: ExportSegment,
  text: string,
  { language, maxWidth }: { language: string | null; maxWidth: number },
): CuePiece[] {
  const times = new WordTimes(segment, text);
  let offset = 0;
  return breakablePieces(text)
    .flatMap((piece) => (columns(piece.trimEnd()) > maxWidth ? cutToWidth(piece, maxWidth) : [piece]))
    .map((piece) => {
      const from = offset;
      offset += piece.length;
      const shown = piece.trimEnd();
      const width = columns(shown);
      return {
        text: piece,
        width,
        spaceWidth: columns(piece) - width,
        startMilliseconds: times.startOf(from),
        endMilliseconds: times.endOf(from + shown.length),
        leadsOn: leadsOn(piece, language),
      };
    });
}

function columns(text: string): number {
  return Bun.stringWidth(text);
}

/** A web address, a word of repeated letters: cut between characters, as there is no better place. */
function cutToWidth(piece: string, maxWidth: number): string[] {
  const parts: string[] = [];
  let part = "";
  let width = 0;
  for (const grapheme of graphemesOf(piece)) {
    const added = columns(grapheme);
    if (part !== "" && width + added > maxWidth && grapheme.trim() !== "") {
      parts.push(part);
      part = "";
      width = 0;
    }
    part += grapheme;
    width += added;
  }
  parts.push(part);
  return parts;
}
