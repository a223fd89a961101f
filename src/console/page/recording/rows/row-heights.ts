import { lastAtMost } from "../places.ts";

/** Heights and positions of all rows of a list, in pixels. A height is estimated until the row was rendered. */
export class RowHeights {
  #heights: Float64Array;
  /**
   * Offsets of each row's upper edge, and of the end; null after a change. Recomputing the offsets of tens of thousands
   * of rows takes tens of microseconds.
   */
  #offsets: Float64Array | null = null;

  constructor(estimates: ArrayLike<number>) {
    this.#heights = Float64Array.from(estimates);
  }

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offsetOf(this.count);
  }

  /** Returns the offset of a row's upper edge in pixels; for `count`, the offset of the list's end. */
  offsetOf(index: number): number {
    return this.#allOffsets()[Math.max(0, Math.min(index, this.count))] ?? 0;
  }

  /**
   * Sets the measured height of a row.
   * @returns whether the height has changed
   */
  set(index: number, height: number): boolean {
    const before = this.#heights[index];
    if (before === undefined || Math.abs(before - height) < 0.5) return false;
    this.#heights[index] = height;
    this.#offsets = null;
    return true;
  }

  /** Replaces rows by others with estimated heights. */
  splice(index: number, removed: number, estimates: readonly number[]): void {
    const rest = this.#heights.subarray(index + removed);
    const heights = new Float64Array(index + estimates.length + rest.length);
    heights.set(this.#heights.subarray(0, index));
    heights.set(estimates, index);
    heights.set(rest, index + estimates.length);
    this.#heights = heights;
    this.#offsets = null;
  }

  /** Returns the index of the row at an offset; the first or last row if the offset is outside. */
  indexAt(offset: number): number {
    return Math.max(0, lastAtMost(this.#allOffsets().subarray(0, this.count), offset));
  }

  #allOffsets(): Float64Array {
    if (this.#offsets !== null) return this.#offsets;
    const offsets = new Float64Array(this.count + 1);
    this.#heights.forEach((height, index) => {
      offsets[index + 1] = (offsets[index] ?? 0) + height;
    });
    this.#offsets = offsets;
    return offsets;
  }
}
