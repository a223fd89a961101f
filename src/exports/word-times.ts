import { cleanText } from "./clean-text.ts";
import type { ExportSegment } from "./document.ts";

/** An offset in a text whose time is known. In a list, offsets and times ascend. */
interface Anchor {
  readonly offset: number;
  readonly milliseconds: number;
}

/**
 * Times at which the characters of a segment's clean text were spoken. Times between words, and of missing words, are
 * interpolated.
 */
export class WordTimes {
  readonly #anchors: Anchor[];

  /** @param text the segment's text as `cleanText` returns it */
  constructor(segment: ExportSegment, text: string) {
    const start = segment.startMilliseconds;
    const end = Math.max(start, segment.endMilliseconds);
    const anchors: Anchor[] = [{ offset: 0, milliseconds: start }];
    let offset = 0;
    let reached = start;
    const add = (at: number, milliseconds: number) => {
      offset = at;
      reached = Math.min(end, Math.max(reached, milliseconds));
      anchors.push({ offset, milliseconds: reached });
    };
    for (const [wordText, wordStart, wordEnd] of segment.words) {
      const word = cleanText(wordText.trim());
      const found = word === "" ? -1 : text.indexOf(word, offset);
      if (found < 0) continue;
      add(found, wordStart);
      add(found + word.length, wordEnd);
    }
    anchors.push({ offset: text.length, milliseconds: end });
    this.#anchors = anchors;
  }

  /** Returns the start time of the text that begins at this offset. */
  startOf(offset: number): number {
    const next = this.#anchors.findLastIndex((anchor) => anchor.offset <= offset);
    return this.#between(next, next + 1, offset);
  }

  /** Returns the end time of the text that ends at this offset. */
  endOf(offset: number): number {
    const next = this.#anchors.findIndex((anchor) => anchor.offset >= offset);
    return this.#between(next - 1, next, offset);
  }

  #between(before: number, after: number, offset: number): number {
    const from = this.#anchors[before];
    const to = this.#anchors[after];
    if (from === undefined || to === undefined) return (from ?? to)?.milliseconds ?? 0;
    if (to.offset === from.offset) return from.milliseconds;
    const share = (offset - from.offset) / (to.offset - from.offset);
    return Math.round(from.milliseconds + share * (to.milliseconds - from.milliseconds));
  }
}
