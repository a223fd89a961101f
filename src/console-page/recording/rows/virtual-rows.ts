import type { PageScroll } from "./page-scroll.ts";
import { RowHeights } from "./row-heights.ts";

/** Rows that are in the page, the last one with. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** Pixels above and below the window for which rows are in the page, so that moving it shows no gap. */
const margin = 700;
/** Where in the window a row comes to lie that is gone to, from its upper edge. */
const restingShare = 0.35;
/** Frames that a row which is gone to may take until it is there; its segments may have to be fetched. */
const patience = 240;

/**
 * Keeps only those rows of a long list in the page that are in sight or nearly, in the page's own scrolling. The list is as
 * high as all rows would be; where heights turn out otherwise than guessed, what is in sight stays where it is.
 */
export class VirtualRows {
  readonly #list: HTMLElement;
  readonly #guess: (widthPixels: number) => readonly number[];
  readonly #scroll: PageScroll;
  readonly #onRange: (range: RowRange) => void;
  readonly #rows = new Map<number, HTMLElement>();
  readonly #sizes = new ResizeObserver((entries) => this.#measure(entries));
  readonly #ended = new AbortController();
  #heights: RowHeights;
  #width: number;
  /** Numbers the rows that were gone to; only the last one still is. */
  #going = 0;
  #target = -1;
  #isSeeking = false;

  /** @param guess the heights of all rows in a list of a width */
  constructor(
    list: HTMLElement,
    guess: (widthPixels: number) => readonly number[],
    scroll: PageScroll,
    onRange: (range: RowRange) => void,
  ) {
    this.#list = list;
    this.#guess = guess;
    this.#scroll = scroll;
    this.#onRange = onRange;
    this.#width = list.clientWidth;
    this.#heights = new RowHeights(guess(this.#width));
    this.#sizes.observe(list);
    const look = () => this.#look();
    addEventListener("scroll", look, { signal: this.#ended.signal, passive: true });
    addEventListener("resize", look, { signal: this.#ended.signal });
    this.#list.style.blockSize = `${this.#heights.total}px`;
    this.#look();
  }

  /** Pixels from the list's beginning to a row. */
  offsetOf(index: number): number {
    return this.#heights.offsetOf(index);
  }

  /** The element of a row that is in the page. */
  row(index: number): HTMLElement | undefined {
    return this.#rows.get(index);
  }

  /** All rows in the page, by their index. */
  get rows(): ReadonlyMap<number, HTMLElement> {
    return this.#rows;
  }

  /** Takes a row that came into the page, or null for one that has left it. */
  hold(index: number, element: HTMLElement | null): void {
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
   * Moves the page to a row.
   * @param find what is to be seen of it, once that is in the page
   */
  goTo(index: number, find: (row: HTMLElement) => { getBoundingClientRect(): DOMRect } | null): void {
    const going = ++this.#going;
    this.#target = index;
    this.#isSeeking = true;
    const attempt = (frame: number) => {
      if (going !== this.#going || this.#ended.signal.aborted) return;
      const row = this.#rows.get(index);
      const seen = row === undefined ? null : find(row);
      this.#isSeeking = seen === null && frame < patience;
      if (seen !== null) {
        this.#scroll.to(scrollY + seen.getBoundingClientRect().top - this.#freeHeight() * restingShare);
        return;
      }
      if (frame === 0) {
        const top = this.#list.getBoundingClientRect().top + scrollY + this.offsetOf(index);
        this.#scroll.by(top - this.#freeHeight() * restingShare - scrollY);
      }
      if (this.#isSeeking) requestAnimationFrame(() => attempt(frame + 1));
    };
    attempt(0);
  }

  /** Whether the page is on its way to this row. */
  isGoingTo(index: number): boolean {
    return this.#target === index && (this.#isSeeking || this.#scroll.isMoving);
  }

  /** Goes no further. */
  stay(): void {
    this.#going++;
    this.#isSeeking = false;
    this.#scroll.stop();
  }

  /** Whether something lies where it is read with ease: not at the window's edges. */
  isAtEase(rect: DOMRect): boolean {
    const free = this.#freeHeight();
    return rect.top > free * 0.12 && rect.bottom < free * 0.78;
  }

  end(): void {
    this.#ended.abort();
    this.#sizes.disconnect();
  }

  /** Of the window, without the player that lies over its end. */
  #freeHeight(): number {
    return innerHeight - (document.querySelector(".player")?.clientHeight ?? 0);
  }

  #measure(entries: readonly ResizeObserverEntry[]): void {
    const above = -this.#list.getBoundingClientRect().top;
    const anchor = this.#heights.indexAt(above);
    const before = this.#heights.offsetOf(anchor);
    const isNewWidth = this.#list.clientWidth !== this.#width;
    if (isNewWidth) {
      this.#width = this.#list.clientWidth;
      this.#heights = new RowHeights(this.#guess(this.#width));
      for (const [index, row] of this.#rows) this.#heights.set(index, row.offsetHeight);
    }
    let isChanged = isNewWidth;
    for (const { target } of entries) {
      if (!(target instanceof HTMLElement) || target === this.#list || !target.isConnected) continue;
      isChanged = this.#heights.set(Number(target.dataset.index), target.offsetHeight) || isChanged;
    }
    if (!isChanged) return;
    this.#scroll.settle();
    this.#list.style.blockSize = `${this.#heights.total}px`;
    const delta = this.#heights.offsetOf(anchor) - before;
    if (above > 0 && delta !== 0) this.#scroll.by(delta);
    this.#look();
  }

  #look(): void {
    if (this.#heights.count === 0) return;
    const above = -this.#list.getBoundingClientRect().top;
    const first = this.#heights.indexAt(above - margin);
    const last = this.#heights.indexAt(above + innerHeight + margin);
    this.#onRange({ first, last });
  }
}
