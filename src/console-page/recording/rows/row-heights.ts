import { lastAtMost } from "../places.ts";

/**
 * Heights and positions of all rows of a list, in pixels. A height is estimated until the row was rendered. Finding a
 * row takes time logarithmic in the number of rows. After a change, the positions of the rows after it are recomputed
 * on demand. This takes tens of microseconds for tens of thousands of rows.
 */
export class RowHeights {
  readonly #heights: Float64Array;
  /** Offsets of each row's upper edge, and of the end; valid up to index #validTo. */
  readonly #offsets: Float64Array;
  #validTo = 0;

  constructor(estimates: ArrayLike<number>) {
    this.#heights = Float64Array.from(estimates);
    this.#offsets = new Float64Array(this.#heights.length + 1);
  }

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offsetOf(this.count);
  }

  /** Returns the offset of a row's upper edge in pixels; for `count`, the offset of the list's end. */
  offsetOf(index: number): number {
    const wanted = Math.max(0, Math.min(index, this.count));
    for (; this.#validTo < wanted; this.#validTo++) {
      this.#offsets[this.#validTo + 1] = at(this.#offsets, this.#validTo) + at(this.#heights, this.#validTo);
    }
    return at(this.#offsets, wanted);
  }

  /**
   * Sets the measured height of a row.
   * @returns whether the height has changed
   */
  set(index: number, height: number): boolean {
    if (index < 0 || index >= this.count || Math.abs(at(this.#heights, index) - height) < 0.5) return false;
    this.#heights[index] = height;
    this.#validTo = Math.min(this.#validTo, index);
    return true;
  }

  /** Returns the index of the row at an offset; the first or last row if the offset is outside. */
  indexAt(offset: number): number {
    this.offsetOf(this.count);
    return Math.max(0, lastAtMost(this.#offsets.subarray(0, this.count), offset));
  }
}

function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? 0;
}
