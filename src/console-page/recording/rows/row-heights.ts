import { lastAtMost } from "../last-at-most.ts";

/**
 * Heights of all rows of a list in pixels, guessed until a row was seen, and where each row begins. Finding a row takes time
 * in proportion to the logarithm of their number, changing one in proportion to the number of those behind it that are asked
 * for: tens of microseconds for tens of thousands.
 */
export class RowHeights {
  readonly #heights: Float64Array;
  /** Of each row's upper edge, and of the end; right up to #rightTo. */
  readonly #offsets: Float64Array;
  #rightTo = 0;

  constructor(guesses: ArrayLike<number>) {
    this.#heights = Float64Array.from(guesses);
    this.#offsets = new Float64Array(this.#heights.length + 1);
  }

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offsetOf(this.count);
  }

  /** Pixels from the list's beginning to a row's upper edge; of `count`, to the list's end. */
  offsetOf(index: number): number {
    const wanted = Math.max(0, Math.min(index, this.count));
    for (; this.#rightTo < wanted; this.#rightTo++) {
      this.#offsets[this.#rightTo + 1] = at(this.#offsets, this.#rightTo) + at(this.#heights, this.#rightTo);
    }
    return at(this.#offsets, wanted);
  }

  /** Takes a row's height as it was measured. @returns whether that changed anything */
  set(index: number, height: number): boolean {
    if (index < 0 || index >= this.count || Math.abs(at(this.#heights, index) - height) < 0.5) return false;
    this.#heights[index] = height;
    this.#rightTo = Math.min(this.#rightTo, index);
    return true;
  }

  /** The row at a place; the first or last one where the place lies outside. */
  indexAt(offset: number): number {
    this.offsetOf(this.count);
    return Math.max(0, lastAtMost(this.#offsets.subarray(0, this.count), offset));
  }
}

function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? 0;
}
