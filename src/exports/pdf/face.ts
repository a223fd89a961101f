import { readFileSync } from "node:fs";
import * as hb from "harfbuzzjs";
import { type FaceName, facePaths } from "../font-files.ts";

/** A glyph as a PDF names it: the same outline may stand for several texts, and copying must give the right one. */
export interface EncodedGlyph {
  readonly glyphId: number;
  readonly text: string;
  /** In thousandths of the font's size. */
  readonly width: number;
}

/** Common readers take no more UTF-16 units for the text of one code. */
export const maxTextUnits = 8;

/** A code is two bytes; 0 stays the missing glyph. */
const maxCodes = 0xffff;

/** One font file while a PDF is made of it: what it can draw, and what of it was used. */
export class Face {
  readonly name: FaceName;
  readonly bytes: Uint8Array;
  readonly font: hb.Font;
  /** Font units → thousandths of the font's size. */
  readonly scale: number;
  /** Above and below the base line, in thousandths of the font's size; the descent is positive. */
  readonly ascent: number;
  readonly descent: number;
  /** By code. */
  readonly used: EncodedGlyph[] = [];
  readonly #codes = new Map<string, number>();
  readonly #covered = new Map<number, boolean>();

  constructor(name: FaceName) {
    this.name = name;
    this.bytes = readFileSync(facePaths[name]);
    const face = new hb.Face(new hb.Blob(this.bytes));
    this.font = new hb.Font(face);
    this.scale = 1000 / face.upem;
    const { ascender, descender } = this.font.hExtents();
    this.ascent = ascender * this.scale;
    this.descent = -descender * this.scale;
    this.encode(0, "\uFFFD");
  }

  covers(codePoint: number): boolean {
    let covered = this.#covered.get(codePoint);
    if (covered === undefined) {
      covered = this.font.nominalGlyph(codePoint) !== undefined;
      this.#covered.set(codePoint, covered);
    }
    return covered;
  }

  /** The code under which a glyph is shown for a text of at most `maxTextUnits`. */
  encode(glyphId: number, text: string): number {
    const key = `${glyphId} ${text}`;
    let code = this.#codes.get(key);
    if (code === undefined) {
      if (this.used.length > maxCodes) return 0;
      code = this.used.length;
      this.used.push({ glyphId, text, width: this.font.glyphHAdvance(glyphId) * this.scale });
      this.#codes.set(key, code);
    }
    return code;
  }

  widthOf(code: number): number {
    return this.used[code]?.width ?? 0;
  }
}
