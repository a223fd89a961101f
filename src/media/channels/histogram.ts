/** Counts of whole numbers from 0 on, from which any part of them can be told without sorting. */
export class Histogram {
  readonly counts: Uint32Array;
  #total = 0;

  /** @param size one more than the largest number that is counted */
  constructor(size: number) {
    this.counts = new Uint32Array(size);
  }

  static of(values: Uint8Array): Histogram {
    const histogram = new Histogram(256);
    for (const value of values) histogram.add(value);
    return histogram;
  }

  get total(): number {
    return this.#total;
  }

  add(value: number, times = 1): void {
    this.counts[value] = (this.counts[value] ?? 0) + times;
    this.#total += times;
  }

  /** The number that a part of all, 0 to 1, are not above; 0 where there is none. */
  percentile(part: number): number {
    let left = part * this.#total;
    for (const [value, count] of this.counts.entries()) {
      left -= count;
      if (left < 0) return value;
    }
    return this.#total === 0 ? 0 : this.counts.length - 1;
  }
}
