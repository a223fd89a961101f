import type { Mark } from "../../../contract/index.ts";

/** Highlight layers of the transcript, styled in the style sheet. A later layer covers an earlier one. */
export const layers = ["doubtful", "found", "found-now", "playing"] as const;
export type Layer = (typeof layers)[number];

/** Whether the browser supports the CSS Custom Highlight API, which marks text without extra elements. */
export const canHighlight = typeof Highlight === "function" && "highlights" in CSS;

/** Marks these ranges in a layer and removes its other marks. */
export function highlight(layer: Layer, ranges: readonly Range[]): void {
  if (!canHighlight) return;
  if (ranges.length === 0) {
    CSS.highlights.delete(layer);
    return;
  }
  const marked = new Highlight(...ranges);
  marked.priority = layers.indexOf(layer);
  CSS.highlights.set(layer, marked);
}

/** Returns the ranges of marks in an element that contains a single text node. Marks beyond the text are left out. */
export function rangesIn(element: Element, marks: readonly Mark[]): Range[] {
  const text = element.firstChild;
  if (!(text instanceof Text)) return [];
  return marks
    .filter(([, to]) => to <= text.length)
    .map(([from, to]) => {
      const range = new Range();
      range.setStart(text, from);
      range.setEnd(text, to);
      return range;
    });
}

/**
 * Splits a text where a mark starts or ends, for browsers that need elements to mark text. Each fragment has the layers
 * that cover it.
 */
export function fragmentsOf(text: string, marked: Readonly<Partial<Record<Layer, readonly Mark[]>>>) {
  const all = layers.map((layer) => ({ layer, marks: marked[layer] ?? [] }));
  const cuts = [0, text.length, ...all.flatMap(({ marks }) => marks.flat())].filter((cut) => cut <= text.length);
  const ordered = [...new Set(cuts)].sort((a, b) => a - b);
  return ordered.slice(0, -1).map((from, index) => ({
    from,
    text: text.slice(from, ordered[index + 1]),
    layers: all
      .filter(({ marks }) => marks.some((mark) => mark[0] <= from && from < mark[1]))
      .map(({ layer }) => layer),
  }));
}

/** Returns the index of the character of an element's text at a point of the window; null: none. */
export function characterAt(element: Element, x: number, y: number): number | null {
  const [node, offset] = caretAt(x, y);
  if (node === null || !element.contains(node)) return null;
  const before = new Range();
  before.setStart(element, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

function caretAt(x: number, y: number): [Node | null, number] {
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return [position?.offsetNode ?? null, position?.offset ?? 0];
  }
  // Safari's older equivalent.
  const range = (document as Document).caretRangeFromPoint(x, y);
  return [range?.startContainer ?? null, range?.startOffset ?? 0];
}

/** Returns the part of a row to show: the marked range, or its text; null while the text is not loaded. */
export function partOf(row: HTMLElement, mark: Mark | null): Range | Element | null {
  const text = row.querySelector(".transcribed:not(.unloaded)");
  if (text === null) return null;
  if (mark === null) return text;
  return rangesIn(text, [mark])[0] ?? text;
}
