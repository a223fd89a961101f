import type { Direction } from "../direction.ts";
import { type Face, maxTextUnits } from "./face.ts";
import { nothing, ShowLine } from "./show-line.ts";

/** Glyphs that together represent some characters, usually one glyph for one text. */
export interface Cluster {
  readonly text: string;
  /** Glyphs from left to right. */
  readonly glyphs: PlacedGlyph[];
}

/** A glyph with its advance and offset, in thousandths of the font's size. */
export interface PlacedGlyph {
  readonly glyphId: number;
  readonly advance: number;
  readonly offsetX: number;
  readonly offsetY: number;
}

/**
 * Returns the TJ operators (ISO 32000-1, 9.4.3) of clusters. Several glyphs that represent a text together form a span
 * with that text. A glyph's code can only map to the text of one glyph.
 */
export function showOperators(clusters: readonly Cluster[], face: Face, direction: Direction): string {
  const line = new ShowLine(face);
  for (const { text, glyphs } of clusters) {
    const characters = Array.from(text);
    const only = glyphs.length === 1 && text.length <= maxTextUnits ? glyphs[0] : undefined;
    if (only !== undefined && (characters.length === 1 || direction === "ltr")) line.show(only, text);
    else if (direction === "ltr") showTogether(line, characters, glyphs);
    else showTurned(line, characters, glyphs);
  }
  return line.end();
}

function showTogether(line: ShowLine, characters: readonly string[], glyphs: readonly PlacedGlyph[]): void {
  // PDF readers without support for such spans get one character for each glyph, or the whole text with the first
  // glyph.
  const together = characters.join("");
  const texts = characters.length === glyphs.length || together.length > maxTextUnits ? characters : [together];
  line.openSpan(together);
  // PDF readers with support for spans derive a span's position from its first and last glyph. A combining mark there
  // would give a wrong position.
  if (isMoved(glyphs[0])) line.spaceFrom(0);
  glyphs.forEach((glyph, index) => {
    line.show(glyph, texts[index] ?? nothing);
  });
  if (isMoved(glyphs.at(-1))) line.spaceUpTo(0);
  line.closeSpan();
}

/**
 * Distance between the positions of marks, in thousandths of the size. PDF readers order characters by their positions.
 */
const markDistance = 2;

/**
 * Shows a right-to-left cluster. PDF readers reverse a line's characters, also those within a code or a span. Therefore
 * every mark is a separate span without width, in front of the letter, which HarfBuzz puts last.
 */
function showTurned(line: ShowLine, characters: readonly string[], glyphs: readonly PlacedGlyph[]): void {
  const letter = glyphs.at(-1);
  const marks = glyphs.slice(0, -1);
  const markTexts = characters.slice(1).reverse();
  const spans = Math.max(markTexts.length, Math.min(marks.length, 1));
  for (let index = 0; index < spans; index++) {
    const last = index === spans - 1;
    line.openSpan(markTexts[index] ?? "");
    const place = (letter?.offsetX ?? 0) - (spans - index) * markDistance;
    line.spaceFrom(place);
    for (const mark of marks.slice(index, last ? undefined : index + 1)) line.show(mark, markTexts[index] ?? nothing);
    line.spaceUpTo(place);
    line.closeSpan();
  }
  if (letter !== undefined) line.show(letter, characters[0] ?? nothing);
}

function isMoved(glyph: PlacedGlyph | undefined): boolean {
  return glyph !== undefined && (glyph.advance === 0 || glyph.offsetX !== 0 || glyph.offsetY !== 0);
}
