import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { PageScroll } from "./page-scroll.ts";
import { RowHeights } from "./row-heights.ts";

/** Range of rendered rows, including the last one. */
interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** Pixels above and below the window in which rows are rendered, so that scrolling shows no gap. */
const MARGIN_PIXELS = 700;
/** Position of a target row in the window, as a share of the height from the upper edge. */
const TARGET_SHARE = 0.35;
/** Area in which the playing word needs no scroll, as shares of the height from the upper edge. */
const COMFORTABLE_SHARES = { top: 0.12, bottom: 0.78 };
/** Maximum number of frames to wait for a target row; its segments may have to be loaded first. */
const MAX_SEEK_FRAMES = 240;

/**
 * Renders only the visible and nearby rows of a long list, with the page's own scrolling. The list is as high as all
 * rows together. If a measured height differs from the estimate, the visible rows keep their position.
 */
class VirtualRows {
  readonly #list: HTMLElement;
  readonly #estimate: (widthPixels: number) => readonly number[];
  readonly #scroll: PageScroll;
  readonly #onRange: (range: RowRange) => void;
  readonly #rows = new Map<number, HTMLElement>();
  readonly #sizes = new ResizeObserver((entries) => this.#measure(entries.map(({ target }) => target)));
  readonly #aborted = new AbortController();
  #heights: RowHeights;
  #width: number;
  /** Counts the calls of `scrollTo` and `stop`; only the latest `scrollTo` continues, and only until `stop` is called. */
  #scrolls = 0;
  #target = -1;
  #isSeeking = false;

  /** @param estimate returns the estimated heights of all rows at a list width */
  constructor(
    list: HTMLElement,
    estimate: (widthPixels: number) => readonly number[],
    scroll: PageScroll,
    onRange: (range: RowRange) => void,
  ) {
    this.#list = list;
    this.#estimate = estimate;
    this.#scroll = scroll;
    this.#onRange = onRange;
    this.#width = list.clientWidth;
    this.#heights = new RowHeights(estimate(this.#width));
    this.#sizes.observe(list);
    const update = () => this.#updateRange();
    addEventListener("scroll", update, { signal: this.#aborted.signal, passive: true });
    addEventListener("resize", update, { signal: this.#aborted.signal });
    this.#list.style.blockSize = `${this.#heights.total}px`;
    this.#updateRange();
  }

  /** Returns the offset of a row in the list, in pixels. */
  offsetOf(index: number): number {
    return this.#heights.offsetOf(index);
  }

  /** All rendered rows by index. */
  get rows(): ReadonlyMap<number, HTMLElement> {
    return this.#rows;
  }

  /** Registers a rendered row; null removes it. */
  register(index: number, element: HTMLElement | null): void {
    const before = this.#rows.get(index);
    if (before !== undefined) this.#sizes.unobserve(before);
    if (element === null) {
      this.#rows.delete(index);
    } else {
      this.#rows.set(index, element);
      this.#sizes.observe(element);
    }
  }

  /**
   * Scrolls to a row.
   * @param find returns the part of the rendered row to show; null while it is not there
   */
  scrollTo(index: number, find: (row: HTMLElement) => { getBoundingClientRect(): DOMRect } | null): void {
    const number = ++this.#scrolls;
    this.#target = index;
    this.#isSeeking = true;
    const attempt = (frame: number) => {
      if (number !== this.#scrolls || this.#aborted.signal.aborted) return;
      const row = this.#rows.get(index);
      const part = row === undefined ? null : find(row);
      this.#isSeeking = part === null && frame < MAX_SEEK_FRAMES;
      if (part !== null) {
        // Rows that are measured after this scroll would move the page again.
        this.#measure(this.#rows.values());
        this.#scroll.to(scrollY + part.getBoundingClientRect().top - this.#targetTop());
        return;
      }
      if (frame === 0) {
        const top = this.#list.getBoundingClientRect().top + scrollY + this.offsetOf(index);
        this.#scroll.by(top - this.#targetTop() - scrollY);
      }
      if (this.#isSeeking) requestAnimationFrame(() => attempt(frame + 1));
    };
    attempt(0);
  }

  /** Replaces rows by others. The row at the upper edge of the window keeps its position. */
  splice(index: number, removed: number, added: number): void {
    const anchor = this.#heights.indexAt(-this.#list.getBoundingClientRect().top);
    const before = this.#heights.offsetOf(anchor);
    this.#heights.splice(index, removed, this.#estimate(this.#width).slice(index, index + added));
    const moved = index + removed <= anchor ? anchor + added - removed : anchor;
    this.#keepInPlace(this.#heights.offsetOf(moved) - before);
  }

  /** Replaces all rows. Rendered ones keep their heights until they are measured again. */
  reset(): void {
    this.#heights = new RowHeights(this.#estimate(this.#width));
    for (const [index, row] of this.#rows) this.#heights.set(index, row.offsetHeight);
    this.#keepInPlace(0);
  }

  /** Returns whether the page scrolls to this row. */
  isScrollingTo(index: number): boolean {
    return this.#target === index && (this.#isSeeking || this.#scroll.isAnimating);
  }

  /** Stops scrolling. */
  stop(): void {
    this.#scrolls++;
    this.#isSeeking = false;
    this.#scroll.stop();
  }

  /** Returns whether an area is in a comfortable reading position, away from the window's edges. */
  isComfortable(rect: DOMRect): boolean {
    const free = this.#freeHeight();
    const top = Math.max(free * COMFORTABLE_SHARES.top, this.#coveredHeight());
    return rect.top > top && rect.bottom < free * COMFORTABLE_SHARES.bottom;
  }

  /** Returns whether a part of an area can be seen. */
  isVisible(rect: DOMRect): boolean {
    return rect.bottom > this.#coveredHeight() && rect.top < this.#freeHeight();
  }

  end(): void {
    this.#aborted.abort();
    this.#sizes.disconnect();
  }

  /** Returns the height of the window without the player, which covers its end. */
  #freeHeight(): number {
    return innerHeight - (document.querySelector(".player")?.clientHeight ?? 0);
  }

  /** Returns the height of the search field and the notices, which cover the beginning of the window. */
  #coveredHeight(): number {
    return document.querySelector(".find-row")?.clientHeight ?? 0;
  }

  #targetTop(): number {
    return Math.max(this.#freeHeight() * TARGET_SHARE, this.#coveredHeight());
  }

  #measure(elements: Iterable<Element>): void {
    const above = -this.#list.getBoundingClientRect().top;
    const anchor = this.#heights.indexAt(above);
    const before = this.#heights.offsetOf(anchor);
    const isNewWidth = this.#list.clientWidth !== this.#width;
    if (isNewWidth) {
      this.#width = this.#list.clientWidth;
      this.#heights = new RowHeights(this.#estimate(this.#width));
      for (const [index, row] of this.#rows) this.#heights.set(index, row.offsetHeight);
    }
    let isChanged = isNewWidth;
    for (const element of elements) {
      if (!(element instanceof HTMLElement) || element === this.#list || !element.isConnected) continue;
      isChanged = this.#heights.set(Number(element.dataset.index), element.offsetHeight) || isChanged;
    }
    if (isChanged) this.#keepInPlace(this.#heights.offsetOf(anchor) - before);
  }

  /** Scrolls by the difference in height above the window, after heights have changed. */
  #keepInPlace(delta: number): void {
    const above = -this.#list.getBoundingClientRect().top;
    this.#scroll.settle();
    this.#list.style.blockSize = `${this.#heights.total}px`;
    if (above > 0 && delta !== 0) this.#scroll.by(delta);
    this.#updateRange();
  }

  #updateRange(): void {
    if (this.#heights.count === 0) return;
    const above = -this.#list.getBoundingClientRect().top;
    const first = this.#heights.indexAt(above - MARGIN_PIXELS);
    const last = this.#heights.indexAt(above + innerHeight + MARGIN_PIXELS);
    this.#onRange({ first, last });
  }
}

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
 * @param estimate returns the estimated heights of all rows at a list width; a new function means a new list
 * @param onUserScroll called when the user scrolls the page
 */
export function useVirtualRows(
  estimate: (widthPixels: number) => readonly number[],
  onUserScroll: () => void,
): UsedRows {
  const list = useRef<HTMLDivElement>(null);
  const rows = useRef<VirtualRows | null>(null);
  const [range, setRange] = useState<RowRange>({ first: 0, last: -1 });
  useLayoutEffect(() => {
    if (list.current === null) return;
    const scroll = new PageScroll(() => {
      rows.current?.stop();
      onUserScroll();
    });
    const change = (next: RowRange) =>
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    const virtual = new VirtualRows(list.current, estimate, scroll, change);
    rows.current = virtual;
    return () => {
      virtual.end();
      scroll.end();
      rows.current = null;
    };
  }, [estimate, onUserScroll]);
  const onRow = useCallback((index: number, element: HTMLElement | null) => rows.current?.register(index, element), []);
  return { list, rows, range, onRow };
}
