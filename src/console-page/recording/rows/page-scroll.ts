/** Milliseconds of a smooth scroll. With reduced motion, the page jumps. */
const moveMilliseconds = 320;
/** Milliseconds after a change of the page's height in which the browser may scroll by itself. */
const settlingMilliseconds = 150;
/** Elements that scroll separately, or prevent the page behind them from scrolling. */
const ownScroll = ".beside, .tray, .player, dialog";

/** Scrolls the page, and distinguishes its own scrolling from the reader's, whatever input device the reader uses. */
export class PageScroll {
  readonly #onReader: () => void;
  readonly #ended = new AbortController();
  #expected = scrollY;
  #frame = 0;
  #isMoving = false;
  #settledAt = 0;

  /** @param onReader called when the reader scrolls the page */
  constructor(onReader: () => void) {
    this.#onReader = onReader;
    addEventListener("scroll", this.#seeScroll, { signal: this.#ended.signal, passive: true });
    addEventListener("resize", () => this.settle(), { signal: this.#ended.signal });
    for (const name of ["wheel", "touchmove"] as const) {
      addEventListener(name, this.#seeHand, { signal: this.#ended.signal, passive: true });
    }
  }

  /** Whether a smooth scroll is in progress. */
  get isMoving(): boolean {
    return this.#isMoving;
  }

  /** Scrolls to a position, smoothly if it is less than a window's height away. */
  to(top: number): void {
    this.stop();
    const from = scrollY;
    const isGentle = Math.abs(top - from) < innerHeight && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isGentle) {
      this.#jump(top);
      return;
    }
    const begun = performance.now();
    const step = (now: number) => {
      const share = Math.max(0, Math.min(1, (now - begun) / moveMilliseconds));
      this.#jump(from + (top - from) * (1 - (1 - share) ** 3));
      this.#isMoving = share < 1;
      if (share < 1) this.#frame = requestAnimationFrame(step);
    };
    this.#isMoving = true;
    this.#frame = requestAnimationFrame(step);
  }

  /** Scrolls by a difference in height above the visible rows, so that these keep their position. */
  by(delta: number): void {
    this.settle();
    this.#jump(scrollY + delta);
  }

  /** Treats scroll events of the next moment as the browser's own, because the page's height changes. */
  settle(): void {
    this.#settledAt = performance.now() + settlingMilliseconds;
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#isMoving = false;
  }

  end(): void {
    this.stop();
    this.#ended.abort();
  }

  #jump(top: number): void {
    scrollTo({ top, behavior: "instant" });
    this.#expected = scrollY;
  }

  /** Input by wheel or touch always counts as the reader's, even while the page settles. */
  readonly #seeHand = (event: WheelEvent | TouchEvent) => {
    const isZoom = event.ctrlKey;
    const isElsewhere = event.target instanceof Element && event.target.closest(ownScroll) !== null;
    if (isZoom || isElsewhere) return;
    this.stop();
    this.#onReader();
  };

  readonly #seeScroll = () => {
    const moved = Math.abs(scrollY - this.#expected) > 2;
    this.#expected = scrollY;
    if (!moved || performance.now() < this.#settledAt) return;
    this.stop();
    this.#onReader();
  };
}
