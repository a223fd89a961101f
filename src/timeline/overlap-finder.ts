import type { Span } from "./spans.ts";

/**
 * Finds the spans that overlap each of a sequence of query spans. Spans that can no longer overlap are dropped, so that
 * the cost per hour does not grow with the recording's length.
 */
export class OverlapFinder<T extends Span> {
  readonly #spans: readonly T[];
  #next = 0;
  #open: T[] = [];

  /** @param spans in order of their starts; they may overlap */
  constructor(spans: readonly T[]) {
    this.#spans = spans;
  }

  /**
   * Returns the spans that overlap a query span by more than an edge, in order.
   * @param span starts no earlier than the span of the previous call
   */
  overlapping({ startSeconds, endSeconds }: Span): T[] {
    for (; ; this.#next++) {
      const next = this.#spans[this.#next];
      if (next === undefined || next.startSeconds >= endSeconds) break;
      this.#open.push(next);
    }
    this.#open = this.#open.filter((one) => one.endSeconds > startSeconds);
    return this.#open.filter((one) => one.startSeconds < endSeconds);
  }
}
