import { deflateSync } from "node:zlib";
import type { Face } from "./face.ts";
import type { Line, Paragraph } from "./paragraph.ts";
import { numeral } from "./show-text.ts";
import type { Structure, StructureElement } from "./structure.ts";

/** Page size in points: A4, portrait. */
export const pageSize = { width: 595.28, height: 841.89 } as const;
const margins = { side: 64, top: 64, bottom: 68 } as const;
export const textWidth = pageSize.width - 2 * margins.side;
const footerBaseline = 38;

/** Compression level, which takes half the time of the default level 6 for files that are a tenth larger. */
const COMPRESSION_LEVEL = 3;

/** Layout of a paragraph. */
export interface BlockStyle {
  readonly size: number;
  /** Minimum distance of baselines, as a multiple of the size. Tall scripts get more. */
  readonly leading: number;
  readonly spaceBefore: number;
  /** Height that must be free below the first line, so that a heading is not the last line of a page. */
  readonly keepBelow: number;
}

/** Draws paragraphs below each other, on as many pages as needed. */
export class Pages {
  readonly #structure: Structure;
  readonly #fontName: (face: Face) => string;
  /** Compressed content of the completed pages. */
  readonly #finished: Uint8Array[] = [];
  #operators: string[] = [];
  #top = pageSize.height - margins.top;

  /** @param fontName returns the name of a face in the pages' resources */
  constructor(structure: Structure, fontName: (face: Face) => string) {
    this.#structure = structure;
    this.#fontName = fontName;
  }

  /** Position of the next paragraph: page number and height on the page. */
  get place(): { readonly page: number; readonly top: number } {
    return { page: this.#finished.length, top: this.#top };
  }

  /** Starts a new page if a paragraph of this style would not fit on the current one. */
  ensureSpace({ size, leading, spaceBefore, keepBelow }: BlockStyle): void {
    const fresh = this.#top === pageSize.height - margins.top;
    if (!fresh && this.#top - spaceBefore - size * leading - keepBelow < margins.bottom) this.#endPage();
  }

  draw(element: StructureElement, { lines, direction, ascent, descent }: Paragraph, style: BlockStyle): void {
    this.ensureSpace(style);
    if (this.#top < pageSize.height - margins.top) this.#top -= style.spaceBefore;
    const scale = style.size / 1000;
    const natural = (ascent + descent) * scale;
    const height = Math.max(natural, style.size * style.leading);
    let open = false;
    for (const line of lines) {
      if (this.#top - height < margins.bottom) {
        if (open) this.#operators.push("EMC");
        open = false;
        this.#endPage();
      }
      if (!open) {
        const id = this.#structure.mark(element, this.#finished.length);
        this.#operators.push(`/${element.type}<</MCID ${id}>>BDC`);
        open = true;
      }
      const baseline = this.#top - (height - natural) / 2 - ascent * scale;
      const indent = direction === "rtl" ? textWidth - (line.width + line.leadingSpace) * scale : 0;
      this.#operators.push(this.#show(line, style.size, margins.side + indent, baseline));
      this.#top -= height;
    }
    if (open) this.#operators.push("EMC");
  }

  /**
   * Ends the last page and adds a footer to all pages. The footer is not part of the text.
   * @param footer returns the left and right footer line of a page, by page number
   * @returns the compressed content streams of the pages; each page consists of both streams of its pair, in order
   */
  finish(
    size: number,
    footer: (page: number, pages: number) => { left: Line | undefined; right: Line | undefined },
  ): Uint8Array[][] {
    this.#endPage();
    const count = this.#finished.length;
    return this.#finished.map((content, page) => {
      const { left, right } = footer(page, count);
      const rightEdge = pageSize.width - margins.side;
      const operators = [
        "/Artifact<</Type/Pagination/Subtype/Footer>>BDC",
        left === undefined ? "" : this.#show(left, size, margins.side, footerBaseline),
        right === undefined ? "" : this.#show(right, size, rightEdge - (right.width * size) / 1000, footerBaseline),
        "EMC",
      ];
      return [content, deflateSync(operators.join("\n"))];
    });
  }

  /**
   * Returns the operators that show a line. The font's size is in the text matrix, because a word's operators are
   * created once for all sizes.
   */
  #show({ parts }: Line, size: number, left: number, baseline: number): string {
    let operators = `BT ${numeral(size)} 0 0 ${numeral(size)} ${numeral(left)} ${numeral(baseline)} Tm `;
    let font = "";
    let color = "";
    for (const part of parts) {
      if (part.color !== color) operators += `${part.color} `;
      color = part.color;
      for (const run of part.runs) {
        const name = this.#fontName(run.face);
        if (name !== font) operators += `/${name} 1 Tf `;
        font = name;
        operators += run.operators;
      }
    }
    return `${operators}ET`;
  }

  #endPage(): void {
    this.#finished.push(deflateSync(this.#operators.join("\n"), { level: COMPRESSION_LEVEL }));
    this.#operators = [];
    this.#top = pageSize.height - margins.top;
  }
}
