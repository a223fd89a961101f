/** Milliseconds that a move takes, unless the reader has asked for less movement. */
const moveMilliseconds = 320;
/** Milliseconds after a change of the page's height in which the browser may move it by itself. */
const settlingMilliseconds = 150;
/** What scrolls by itself, or lets nothing behind it be scrolled. */
const ownScroll = ".beside, .tray, .player, dialog";

/** Moves the page, and tells its own moves from those of the reader, whatever they are made with. */
export class PageScroll {
  readonly #onReader: () => void;
  readonly #ended = new AbortController();
  #expected = scrollY;
  #frame = 0;
  #isMoving = false;
  #settledAt = 0;

  /** @param onReader called when the reader moves the page */
  constructor(onReader: () => void) {
    this.#onReader = onReader;
    addEventListener("scroll", this.#seeScroll, { signal: this.#ended.signal, passive: true });
    addEventListener("resize", () => this.settle(), { signal: this.#ended.signal });
    for (const name of ["wheel", "touchmove"] as const) {
      addEventListener(name, this.#seeHand, { signal: this.#ended.signal, passive: true });
    }
  }

  /** Whether it is on its way to a place. */
  get isMoving(): boolean {
    return this.#isMoving;
  }

  /** Moves the page to a place, gently where it is near. */
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

  /** Moves along with what is shown when something above it takes another height. */
  by(delta: number): void {
    this.settle();
    this.#jump(scrollY + delta);
  }

  /** Takes moves of the next moment for the browser's own: the page's height changes. */
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

  /** What moves the page by hand counts at once, also while it settles. */
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
