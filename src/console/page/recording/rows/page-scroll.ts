/** Milliseconds of a smooth scroll. With reduced motion, the page jumps. */
const SMOOTH_MILLISECONDS = 320;
/** Milliseconds after a change of the page's height in which the browser may scroll by itself. */
const SETTLING_MILLISECONDS = 150;
/** Elements that scroll separately, or prevent the page behind them from scrolling. */
const separateScroll = ".sidebar, .tray, .player, dialog";

/** Scrolls the page, and distinguishes its own scrolling from the user's, whatever input device the user uses. */
export class PageScroll {
  readonly #onUserScroll: () => void;
  readonly #aborted = new AbortController();
  #expected = scrollY;
  #frame = 0;
  #isAnimating = false;
  #settledAt = 0;

  /** @param onUserScroll called when the user scrolls the page */
  constructor(onUserScroll: () => void) {
    this.#onUserScroll = onUserScroll;
    addEventListener("scroll", this.#onScroll, { signal: this.#aborted.signal, passive: true });
    addEventListener("resize", () => this.settle(), { signal: this.#aborted.signal });
    for (const name of ["wheel", "touchmove"] as const) {
      addEventListener(name, this.#onInput, { signal: this.#aborted.signal, passive: true });
    }
  }

  /** Whether a smooth scroll is in progress. */
  get isAnimating(): boolean {
    return this.#isAnimating;
  }

  /** Scrolls to a position, smoothly if it is less than a window's height away. */
  to(top: number): void {
    this.stop();
    const from = scrollY;
    const isSmooth = Math.abs(top - from) < innerHeight && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isSmooth) {
      this.#jump(top);
      return;
    }
    const begun = performance.now();
    const step = (now: number) => {
      const share = Math.max(0, Math.min(1, (now - begun) / SMOOTH_MILLISECONDS));
      this.#jump(from + (top - from) * (1 - (1 - share) ** 3));
      this.#isAnimating = share < 1;
      if (share < 1) this.#frame = requestAnimationFrame(step);
    };
    this.#isAnimating = true;
    this.#frame = requestAnimationFrame(step);
  }

  /** Scrolls by a difference in height above the visible rows, so that these keep their position. */
  by(delta: number): void {
    this.settle();
    this.#jump(scrollY + delta);
  }

  /** Treats scroll events of the next moment as the browser's own, because the page's height changes. */
  settle(): void {
    this.#settledAt = performance.now() + SETTLING_MILLISECONDS;
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#isAnimating = false;
  }

  end(): void {
    this.stop();
    this.#aborted.abort();
  }

  #jump(top: number): void {
    scrollTo({ top, behavior: "instant" });
    this.#expected = scrollY;
  }

  /** Input by wheel or touch always counts as the user's, even while the page settles. */
  readonly #onInput = (event: WheelEvent | TouchEvent) => {
    const isZoom = event.ctrlKey;
    const isElsewhere = event.target instanceof Element && event.target.closest(separateScroll) !== null;
    if (isZoom || isElsewhere) return;
    this.stop();
    this.#onUserScroll();
  };

  readonly #onScroll = () => {
    const moved = Math.abs(scrollY - this.#expected) > 2;
    this.#expected = scrollY;
    if (!moved || performance.now() < this.#settledAt) return;
    this.stop();
    this.#onUserScroll();
  };
}
