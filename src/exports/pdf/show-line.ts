import type { Face } from "./face.ts";
import { numeral, utf16Hex } from "./numerals.ts";
import type { PlacedGlyph } from "./show-text.ts";

/** Text for a glyph that represents none (a zero-width space), because every code must map to some text. */
export const nothing = "\u200B";

/**
 * Collects the operators of one run of text, and tracks the position that the next glyph would have without an
 * adjustment.
 */
export class ShowLine {
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

  /** Adds an invisible glyph that begins at this distance right of the current point, and does not move that point. */
  spaceFrom(distance: number): void {
    this.#space(distance, 0);
  }

  /** Adds an invisible glyph that ends at this distance right of the current point, and does not move that point. */
  spaceUpTo(distance: number): void {
    this.#space(distance, 1);
  }

  #space(distance: number, widthsLeft: number): void {
    const glyphId = this.#face.font.nominalGlyph(0x20);
    if (glyphId === undefined) return;
    const width = this.#face.widthOf(this.#face.encode(glyphId, nothing));
    this.show({ glyphId, advance: 0, offsetX: distance - widthsLeft * width, offsetY: 0 }, nothing);
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
