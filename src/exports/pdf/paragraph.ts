import bidiFactory from "bidi-js";
import { breakableFragments, graphemesOf } from "../break-points.ts";
import { type Direction, directionOfText, hasRightToLeft } from "../direction.ts";
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
  const { base, levels } = levelsOf(text, direction);
  const lines: Line[] = [];
  let line: Item[] = [];
  let lineWidth = 0;
  const endLine = () => {
    if (line.length > 0) lines.push(toLine(line, base));
    line = [];
    lineWidth = 0;
  };
  /** Adds items to the line, or to a new line if they do not fit. */
  const add = (items: readonly Item[]) => {
    if (lineWidth + widthWithoutEnd(items) > width) endLine();
    line.push(...items);
    lineWidth += widthOf(items);
  };
  let from = 0;
  for (const fragment of breakableFragments(text)) {
    const items = itemsOf(spans, levels, shaper, from, from + fragment.length);
    if (widthWithoutEnd(items) <= width) {
      add(items);
      from += fragment.length;
      continue;
    }
    // A fragment that is wider than a line is split between characters.
    if (lineWidth + widthWithoutEnd(items) > width) endLine();
    for (const grapheme of graphemesOf(fragment)) {
      add(itemsOf(spans, levels, shaper, from, from + grapheme.length));
      from += grapheme.length;
    }
  }
  endLine();
  const runs = lines.flatMap((shown) => shown.parts.flatMap((part) => part.runs));
  const faces = [...new Set(runs.map((run) => run.face))];
  return {
    direction: base === 1 ? "rtl" : "ltr",
    lines,
    ascent: Math.max(0, ...faces.map((face) => face.ascent)),
    descent: Math.max(0, ...faces.map((face) => face.descent)),
  };
}

/** Returns the base level of a paragraph, and the level of each UTF-16 unit; undefined if all levels are 0. */
function levelsOf(text: string, direction: Direction | undefined): { base: number; levels: Uint8Array | undefined } {
  if (direction !== "rtl" && !hasRightToLeft(text)) return { base: 0, levels: undefined };
  // The library takes emoji, and all other supplementary characters, for left-to-right letters.
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text, direction ?? directionOfText(text));
  return { base: paragraphs[0]?.level ?? 0, levels };
}

/** Shapes the paragraph's text from `from` to `to`, split where style, direction or spaces change. */
function itemsOf(
  spans: readonly Span[],
  levels: Uint8Array | undefined,
  shaper: Shaper,
  from: number,
  to: number,
): Item[] {
  const items: Item[] = [];
  let spanStart = 0;
  for (const { text, weight, color } of spans) {
    let offset = Math.max(from, spanStart);
    const end = Math.min(to, spanStart + text.length);
    const parts = offset < end ? text.slice(offset - spanStart, end - spanStart).split(spaces) : [];
    for (const part of parts) {
      for (const { text: run, level } of splitByLevel(part, levels, offset)) {
        const runs = shaper.shape(run, level % 2 === 1 ? "rtl" : "ltr", weight);
        const width = runs.reduce((sum, shaped) => sum + shaped.width, 0);
        items.push({ runs, color, width, level, isSpace: run.trim() === "" });
      }
      offset += part.length;
    }
    spanStart += text.length;
  }
  return items;
}

function splitByLevel(text: string, levels: Uint8Array | undefined, offset: number): { text: string; level: number }[] {
  if (text === "") return [];
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
