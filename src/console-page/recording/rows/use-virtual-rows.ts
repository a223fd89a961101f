import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
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

/**
 * The rows of a long list that are in sight.
 * @param guess the heights of all rows in a list of a width; another function is another list
 * @param onReader called when the reader moves the page
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
