import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { PageScroll } from "./page-scroll.ts";
import { type RowRange, VirtualRows } from "./virtual-rows.ts";

export interface UsedRows {
  /** Ref for the element that is as high as all rows together. */
  readonly list: RefObject<HTMLDivElement | null>;
  readonly rows: RefObject<VirtualRows | null>;
  /** Rows to render. */
  readonly range: RowRange;
  /** Called for each row that is added to the page or removed from it. */
  readonly onRow: (index: number, element: HTMLElement | null) => void;
}

/**
 * Virtualizes the rows of a long list.
 * @param guess returns the estimated heights of all rows at a list width; a new function means a new list
 * @param onReader called when the reader scrolls the page
 */
export function useVirtualRows(guess: (widthPixels: number) => readonly number[], onReader: () => void): UsedRows {
  const list = useRef<HTMLDivElement>(null);
  const rows = useRef<VirtualRows | null>(null);
  const [range, setRange] = useState<RowRange>({ first: 0, last: -1 });
  useLayoutEffect(() => {
    if (list.current === null) return;
    const scroll = new PageScroll(() => {
      rows.current?.stay();
      onReader();
    });
    const change = (next: RowRange) =>
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    const virtual = new VirtualRows(list.current, guess, scroll, change);
    rows.current = virtual;
    return () => {
      virtual.end();
      scroll.end();
      rows.current = null;
    };
  }, [guess, onReader]);
  const onRow = useCallback((index: number, element: HTMLElement | null) => rows.current?.hold(index, element), []);
  return { list, rows, range, onRow };
}
