import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Mark, Outline } from "../../contract.ts";
import { guessHeights } from "./guess-heights.ts";
import { highlight, layers, rangesIn } from "./highlights.ts";
import { PageScroll } from "./page-scroll.ts";
import { type RowRange, VirtualRows } from "./virtual-rows.ts";

export interface UsedRows {
  /** For the element that is as high as all rows would be. */
  readonly list: RefObject<HTMLDivElement | null>;
  readonly rows: RefObject<VirtualRows | null>;
  /** Rows that are to be in the page. */
  readonly range: RowRange;
  /** Takes each row that comes into the page or leaves it. */
  readonly onRow: (index: number, element: HTMLElement | null) => void;
}

/** The rows of a transcript that are in sight. @param onReader called when the reader moves the page */
export function useVirtualRows(outline: Outline, language: string | null, onReader: () => void): UsedRows {
  const list = useRef<HTMLDivElement>(null);
  const rows = useRef<VirtualRows | null>(null);
  const [range, setRange] = useState<RowRange>({ first: 0, last: -1 });
  useLayoutEffect(() => {
    if (list.current === null) return;
    const scroll = new PageScroll(() => {
      rows.current?.stay();
      onReader();
    });
    const guess = (width: number) => guessHeights(outline, width, language);
    const change = (next: RowRange) =>
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    const virtual = new VirtualRows(list.current, guess, scroll, change);
    rows.current = virtual;
    return () => {
      virtual.end();
      scroll.end();
      rows.current = null;
      for (const layer of layers) highlight(layer, []);
    };
  }, [outline, language, onReader]);
  const onRow = useCallback((index: number, element: HTMLElement | null) => rows.current?.hold(index, element), []);
  return { list, rows, range, onRow };
}

/** What is to be seen of a row: a marked place, else its text; null while that has not come. */
export function partOf(row: HTMLElement, mark: Mark | null): Range | Element | null {
  const said = row.querySelector(".said:not(.coming)");
  if (said === null) return null;
  if (mark === null) return said;
  return rangesIn(said, [mark])[0] ?? said;
}
