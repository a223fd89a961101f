import type { Span } from "./spans.ts";

/**
 * Finds which of many spans reach into others, asked for one after the other: each is looked at only while it may, so that
 * a long recording costs no more by the hour than a short one.
 */
export class Reaching<T extends Span> {
  readonly #spans: readonly T[];
  #next = 0;
  #open: T[] = [];

  /** @param spans in order of their starts; they may overlap */
  constructor(spans: readonly T[]) {
    this.#spans = spans;
  }

  /** Those that have more than an edge in common with a span, in order. @param span begins no earlier than the one before */
  into({ startSeconds, endSeconds }: Span): T[] {
    for (; ; this.#next++) {
      const next = this.#spans[this.#next];
      if (next === undefined || next.startSeconds >= endSeconds) break;
      this.#open.push(next);
    }
    this.#open = this.#open.filter((one) => one.endSeconds > startSeconds);
    return this.#open.filter((one) => one.startSeconds < endSeconds);
  }
}
