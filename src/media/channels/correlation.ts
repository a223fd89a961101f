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
