/** Counts of whole numbers from 0 on, from which any percentile is computed without sorting. */
export class Histogram {
  readonly counts: Uint32Array;
  #total = 0;

  /** @param size one more than the largest number to count */
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

  /** Returns the smallest number with more than the fraction `part` of all numbers not above it; 0 if empty. */
  percentile(part: number): number {
    let left = part * this.#total;
    for (const [value, count] of this.counts.entries()) {
      left -= count;
      if (left < 0) return value;
    }
    return this.#total === 0 ? 0 : this.counts.length - 1;
  }
}

/** Pearson correlation of pairs that are added one at a time. */
export class Correlation {
  #count = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;

  add(x: number, y: number): void {
    this.#count++;
    this.#x += x;
    this.#y += y;
    this.#xx += x * x;
    this.#yy += y * y;
    this.#xy += x * y;
  }

  /** -1 to 1; 0 where one side never changes. */
  value(): number {
    const spread = (this.#count * this.#xx - this.#x ** 2) * (this.#count * this.#yy - this.#y ** 2);
    return spread <= 0 ? 0 : (this.#count * this.#xy - this.#x * this.#y) / Math.sqrt(spread);
  }
}
