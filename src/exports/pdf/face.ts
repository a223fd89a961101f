import { readFileSync } from "node:fs";
import * as hb from "harfbuzzjs";
import { isCompiled } from "../../program/index.ts";
import * as fontFiles from "./font-files.ts";

export type FaceName = keyof typeof fontFiles;

/**
 * A glyph with the text that it represents. The same outline may represent several texts, and copying from the PDF must
 * return the right one.
 */
export interface EncodedGlyph {
  readonly glyphId: number;
  readonly text: string;
  /** In thousandths of the font's size. */
  readonly width: number;
}

/**
 * Maximum number of UTF-16 units for the text of one code. It suffices for every emoji, of which a flag with tags has 14.
 * Poppler 22.12, PDFium 5.15, MuPDF, pypdf and pdfminer read such texts. PDFium drops spans of supplementary characters.
 */
export const MAX_TEXT_UNITS = 32;

/** Highest code: a code has two bytes. Code 0 is the missing glyph. */
const MAX_CODES = 0xffff;

/** A font file during the creation of a PDF: the characters that it covers, and the glyphs that were used. */
export class Face {
  readonly name: FaceName;
  readonly bytes: Uint8Array;
  readonly font: hb.Font;
  /** Factor from font units to thousandths of the font's size. */
  readonly scale: number;
  /** Extent above and below the baseline, in thousandths of the font's size. The descent is positive. */
  readonly ascent: number;
  readonly descent: number;
  /** The used glyphs, indexed by code. */
  readonly used: EncodedGlyph[] = [];
  readonly #codes = new Map<string, number>();
  readonly #covered = new Map<number, boolean>();

  constructor(name: FaceName) {
    this.name = name;
    // biome-ignore lint/performance/noDynamicNamespaceImportAccess: every font file is part of the program
    this.bytes = readFace(fontFiles[name]);
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

  /** Returns the code of a glyph for a text of at most `MAX_TEXT_UNITS`. */
  encode(glyphId: number, text: string): number {
    const key = `${glyphId} ${text}`;
    let code = this.#codes.get(key);
    if (code === undefined) {
      if (this.used.length > MAX_CODES) return 0;
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

/** Reads a font file. A compiled program contains it compressed. */
function readFace(path: string): Uint8Array {
  const bytes = readFileSync(path);
  return isCompiled ? Bun.zstdDecompressSync(bytes) : bytes;
}
