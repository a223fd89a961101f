import type { Direction } from "../direction.ts";
import { type Face, MAX_TEXT_UNITS } from "./face.ts";

/** Text for a glyph that represents none (a zero-width space), because every code must map to some text. */
const NO_TEXT = "\u200B";

/** Glyphs that together represent some characters, usually one glyph for one text. */
export interface Cluster {
  readonly text: string;
  /** Glyphs from left to right. */
  readonly glyphs: PlacedGlyph[];
}

/** A glyph with its advance and offset, in thousandths of the font's size. */
interface PlacedGlyph {
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
    const only = glyphs.length === 1 && text.length <= MAX_TEXT_UNITS ? glyphs[0] : undefined;
    if (only !== undefined && (characters.length === 1 || direction === "ltr")) line.show(only, text);
    else if (direction === "ltr") showLeftToRight(line, characters, glyphs);
    else showRightToLeft(line, characters, glyphs);
  }
  return line.end();
}

function showLeftToRight(line: ShowLine, characters: readonly string[], glyphs: readonly PlacedGlyph[]): void {
  // PDF readers without support for such spans get one character for each glyph, or the whole text with the first
  // glyph.
  const together = characters.join("");
  const texts = characters.length === glyphs.length || together.length > MAX_TEXT_UNITS ? characters : [together];
  line.openSpan(together);
  // PDF readers with support for spans derive a span's position from its first and last glyph. A combining mark there
  // would give a wrong position.
  if (isMoved(glyphs[0])) line.space("left", 0);
  glyphs.forEach((glyph, index) => {
    line.show(glyph, texts[index] ?? NO_TEXT);
  });
  if (isMoved(glyphs.at(-1))) line.space("right", 0);
  line.closeSpan();
}

/**
 * Distance between the positions of marks, in thousandths of the size. PDF readers order characters by their positions.
 */
const MARK_DISTANCE = 2;

/**
 * Shows a right-to-left cluster. PDF readers reverse a line's characters, also those within a code or a span. Therefore
 * every mark is a separate span without width, in front of the letter, which HarfBuzz puts last.
 */
function showRightToLeft(line: ShowLine, characters: readonly string[], glyphs: readonly PlacedGlyph[]): void {
  const letter = glyphs.at(-1);
  const marks = glyphs.slice(0, -1);
  const markTexts = characters.slice(1).reverse();
  const spans = Math.max(markTexts.length, Math.min(marks.length, 1));
  for (let index = 0; index < spans; index++) {
    const last = index === spans - 1;
    line.openSpan(markTexts[index] ?? "");
    const place = (letter?.offsetX ?? 0) - (spans - index) * MARK_DISTANCE;
    line.space("left", place);
    for (const mark of marks.slice(index, last ? undefined : index + 1)) line.show(mark, markTexts[index] ?? NO_TEXT);
    line.space("right", place);
    line.closeSpan();
  }
  if (letter !== undefined) line.show(letter, characters[0] ?? NO_TEXT);
}

function isMoved(glyph: PlacedGlyph | undefined): boolean {
  return glyph !== undefined && (glyph.advance === 0 || glyph.offsetX !== 0 || glyph.offsetY !== 0);
}

/**
 * Collects the operators of one run of text, and tracks the position that the next glyph would have without an
 * adjustment.
 */
class ShowLine {
  readonly #face: Face;
  readonly #done: string[] = [];
  #array: string[] = [];
  #codes = "";
  /** Distance of the next glyph to the right of its natural position. */
  #shift = 0;
  #rise = 0;

  constructor(face: Face) {
    this.#face = face;
  }

  show({ glyphId, advance, offsetX, offsetY }: PlacedGlyph, text: string): void {
    const code = this.#face.encode(glyphId, text);
    if (offsetY !== this.#rise) this.#setRise(offsetY);
    this.#moveBy(this.#shift + offsetX);
    this.#codes += code.toString(16).padStart(4, "0");
    this.#shift = advance - offsetX - this.#face.widthOf(code);
  }

  /** Adds an invisible glyph with one edge at this distance right of the current point, and does not move that point. */
  space(edge: "left" | "right", distance: number): void {
    const glyphId = this.#face.font.nominalGlyph(0x20);
    if (glyphId === undefined) return;
    const width = this.#face.widthOf(this.#face.encode(glyphId, NO_TEXT));
    this.show({ glyphId, advance: 0, offsetX: edge === "left" ? distance : distance - width, offsetY: 0 }, NO_TEXT);
  }

  /** Starts a span. The glyphs up to its end represent this text. */
  openSpan(text: string): void {
    this.#flush();
    this.#done.push(`/Span<</ActualText<${utf16Hex(`\uFEFF${text}`)}>>>BDC `);
  }

  closeSpan(): void {
    this.#flush();
    this.#done.push("EMC ");
  }

  /**
   * Ends the run and returns its operators. They are joined from an array, because concatenation with + would keep
   * every part in memory. For the words of 18 hours, these parts took 100 MB.
   */
  end(): string {
    this.#moveBy(this.#shift);
    this.#shift = 0;
    if (this.#rise !== 0) this.#setRise(0);
    this.#flush();
    return this.#done.join("");
  }

  #moveBy(distance: number): void {
    if (Math.abs(distance) < 0.5) return;
    this.#closeCodes();
    this.#array.push(String(-Math.round(distance)));
  }

  #setRise(rise: number): void {
    this.#flush();
    this.#done.push(`${numeral(rise / 1000)} Ts `);
    this.#rise = rise;
  }

  #closeCodes(): void {
    if (this.#codes !== "") this.#array.push("<", this.#codes, ">");
    this.#codes = "";
  }

  #flush(): void {
    this.#closeCodes();
    if (this.#array.length > 0) this.#done.push("[", ...this.#array, "]TJ ");
    this.#array = [];
  }
}

/** Formats a number for PDF: no exponent, no unnecessary digits. */
export function numeral(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}

/** Encodes text as big-endian UTF-16 in hexadecimal digits. */
export function utf16Hex(text: string): string {
  return Buffer.from(text, "utf16le").swap16().toString("hex");
}
