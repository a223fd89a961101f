import { WINDOW_FRAMES } from "../../timeline/index.ts";
import type { Stretch } from "./clean-speech.ts";

/**
 * Minimum intersection over union at which fragments of two windows count as the same. On 113 recordings this avoids a
 * fifth of all embedding. No number of speakers changes, and no group's DER changes by more than 0.03 points. With 0.6,
 * two people of a telephone dialogue are merged into one speaker.
 */
const SAME_PART = 0.7;

/** Voice fragments of the windows so far, so that a fragment in several windows is embedded once. */
export class KnownPieces {
  private known: (Stretch & { readonly number: number })[] = [];

  /** Returns the number of the known fragment with the greatest overlap; undefined if none overlaps enough. */
  numberOf(piece: Stretch): number | undefined {
    let most = SAME_PART;
    let number: number | undefined;
    for (const one of this.known) {
      const part = samePart(one, piece);
      if (part < most || (part === most && number !== undefined)) continue;
      most = part;
      number = one.number;
    }
    return number;
  }

  /**
   * Adds a fragment under a number and returns the number. Fragments added later must not begin before this fragment's
   * window.
   */
  add(piece: Stretch, number: number): number {
    this.known = this.known.filter(({ end }) => end > piece.start - WINDOW_FRAMES);
    this.known.push({ ...piece, number });
    return number;
  }
}

function samePart(one: Stretch, other: Stretch): number {
  const both = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return both / (Math.max(one.end, other.end) - Math.min(one.start, other.start));
}
