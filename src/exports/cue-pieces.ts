import { breakablePieces, graphemesOf } from "./break-points.ts";
import type { ExportSegment } from "./document.ts";
import { leadsOn } from "./leading-words.ts";
import { WordTimes } from "./word-times.ts";

/** The smallest fragment of a subtitle, which contains no line break opportunity. */
export interface CuePiece {
  /** Text with the space after it. */
  readonly text: string;
  /** Columns of the text, without the space after it, and of that space. */
  readonly width: number;
  readonly spaceWidth: number;
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  /** Whether a line should not break after this fragment, because it belongs to the next one, as an article does. */
  readonly leadsOn: boolean;
}

/**
 * Splits a segment's text into fragments of at most `maxWidth` columns. A column is the width of a Latin letter. East
 * Asian wide characters take two columns, combining marks none.
 * @param text the segment's text as `cleanText` returns it
 * @param language ISO 639-1; null if unknown
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

/**
 * Splits a fragment that is too wide between characters, because it has no better place to break. Examples are a web
 * address or a word of repeated letters.
 */
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
