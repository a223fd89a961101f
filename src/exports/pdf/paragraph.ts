import bidiFactory from "bidi-js";
import { breakableFragments, graphemesOf } from "../break-points.ts";
import { type Direction, hasRightToLeft } from "../direction.ts";
import type { Weight } from "./face-choice.ts";
import type { ShapedRun, Shaper } from "./shaper.ts";

/** Text in one style. */
export interface Span {
  readonly text: string;
  readonly weight: Weight;
  /** The operator that sets the colour. */
  readonly color: string;
}

/** Shaped runs of one colour, from left to right. */
interface LinePart {
  readonly runs: readonly ShapedRun[];
  readonly color: string;
}

/** A line in visual order, from left to right. Measures are thousandths of the font's size. */
export interface Line {
  readonly parts: readonly LinePart[];
  /** Width without trailing spaces. */
  readonly width: number;
  /** Width of trailing spaces that are drawn left of the text, as in right-to-left paragraphs. */
  readonly leadingSpace: number;
}

export interface Paragraph {
  readonly direction: Direction;
  /** Extents of the highest and the deepest face in the paragraph, so that all its lines have the same distance. */
  readonly ascent: number;
  readonly descent: number;
  readonly lines: readonly Line[];
}

/** Text of one style and direction level, either only spaces or without spaces. */
interface Item extends LinePart {
  readonly width: number;
  readonly level: number;
  readonly isSpace: boolean;
}

const bidi = bidiFactory();
const spaces = /(\s+)/u;

/**
 * Breaks the spans of one paragraph into lines (UAX #14) and puts each line in visual order (UAX #9).
 * @param width width of a line, in thousandths of the font's size
 * @param direction direction of the paragraph; by default, that of the first letter with a direction
 */
export function layOut(spans: readonly Span[], width: number, shaper: Shaper, direction?: Direction): Paragraph {
  const text = spans.map((span) => span.text).join("");
  const levels = levelsOf(text, direction);
  const baseLevel = levels.base;
  const lines: Line[] = [];
  let line: Item[] = [];
  let lineWidth = 0;
  const endLine = () => {
    if (line.length > 0) lines.push(toLine(line, baseLevel));
    line = [];
    lineWidth = 0;
  };
  const items = new Itemizer(spans, levels.of, shaper);
  for (const fragment of breakableFragments(text)) {
    const fragmentItems = items.next(fragment.length);
    const fragmentWidth = widthWithoutEnd(fragmentItems);
    if (lineWidth + fragmentWidth > width) endLine();
    if (fragmentWidth <= width) {
      line.push(...fragmentItems);
      lineWidth += widthOf(fragmentItems);
      continue;
    }
    items.back(fragment.length);
    for (const grapheme of graphemesOf(fragment)) {
      const graphemeItems = items.next(grapheme.length);
      if (lineWidth + widthWithoutEnd(graphemeItems) > width) endLine();
      line.push(...graphemeItems);
      lineWidth += widthOf(graphemeItems);
    }
  }
  endLine();
  const runs = lines.flatMap((shown) => shown.parts.flatMap((part) => part.runs));
  const faces = [...new Set(runs.map((run) => run.face))];
  return {
    direction: baseLevel === 1 ? "rtl" : "ltr",
    lines,
    ascent: Math.max(0, ...faces.map((face) => face.ascent)),
    descent: Math.max(0, ...faces.map((face) => face.descent)),
  };
}

function levelsOf(text: string, direction: Direction | undefined): { base: number; of: Uint8Array | undefined } {
  if (direction !== "rtl" && !hasRightToLeft(text)) return { base: 0, of: undefined };
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text, direction ?? "auto");
  return { base: paragraphs[0]?.level ?? 0, of: levels };
}

/** Reads a paragraph's text in order and shapes it, split where style, direction or spaces change. */
class Itemizer {
  readonly #spans: readonly Span[];
  readonly #levels: Uint8Array | undefined;
  readonly #shaper: Shaper;
  #offset = 0;

  constructor(spans: readonly Span[], levels: Uint8Array | undefined, shaper: Shaper) {
    this.#spans = spans;
    this.#levels = levels;
    this.#shaper = shaper;
  }

  /** Returns the items of the next `length` UTF-16 units. */
  next(length: number): Item[] {
    const items: Item[] = [];
    const end = this.#offset + length;
    let spanStart = 0;
    for (const span of this.#spans) {
      const spanEnd = spanStart + span.text.length;
      const from = Math.max(this.#offset, spanStart);
      const to = Math.min(end, spanEnd);
      if (from < to) this.#addItems(items, span, span.text.slice(from - spanStart, to - spanStart), from);
      spanStart = spanEnd;
    }
    this.#offset = end;
    return items;
  }

  /** Moves back by `length` UTF-16 units, so that the same text can be read in smaller parts. */
  back(length: number): void {
    this.#offset -= length;
  }

  #addItems(items: Item[], span: Span, text: string, offset: number): void {
    let from = offset;
    for (const part of text.split(spaces)) {
      for (const { text: run, level } of this.#byLevel(part, from)) {
        const runs = this.#shaper.shape(run, level % 2 === 1 ? "rtl" : "ltr", span.weight);
        const width = runs.reduce((sum, shaped) => sum + shaped.width, 0);
        items.push({ runs, color: span.color, width, level, isSpace: run.trim() === "" });
      }
      from += part.length;
    }
  }

  #byLevel(text: string, offset: number): { text: string; level: number }[] {
    if (text === "") return [];
    const levels = this.#levels;
    if (levels === undefined) return [{ text, level: 0 }];
    const runs: { text: string; level: number }[] = [];
    let from = 0;
    for (let at = 1; at <= text.length; at++) {
      if (at < text.length && levels[offset + at] === levels[offset + from]) continue;
      runs.push({ text: text.slice(from, at), level: levels[offset + from] ?? 0 });
      from = at;
    }
    return runs;
  }
}

function widthOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + item.width, 0);
}

function widthWithoutEnd(items: readonly Item[]): number {
  return widthOf(items.slice(0, items.findLastIndex((item) => !item.isSpace) + 1));
}

function toLine(items: readonly Item[], baseLevel: number): Line {
  const shown = items.findLastIndex((item) => !item.isSpace) + 1;
  // Trailing spaces of a line take the paragraph's direction (UAX #9, L1).
  const leveled = items.map((item, index) => (index < shown ? item : { ...item, level: baseLevel }));
  const width = widthOf(items.slice(0, shown));
  return {
    parts: inVisualOrder(leveled),
    width,
    leadingSpace: baseLevel === 1 ? widthOf(items) - width : 0,
  };
}

/**
 * Reorders items visually (UAX #9, L2): from the highest level down to the lowest odd one, reverses each run of items
 * at that level or above.
 */
function inVisualOrder(items: readonly Item[]): Item[] {
  const ordered = [...items];
  const highest = Math.max(0, ...ordered.map((item) => item.level));
  for (let level = highest; level > 0; level--) {
    for (let from = 0; from < ordered.length; from++) {
      if ((ordered[from]?.level ?? 0) < level) continue;
      let to = from;
      while (to < ordered.length && (ordered[to]?.level ?? 0) >= level) to++;
      ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  }
  return ordered;
}
