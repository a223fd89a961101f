import { WINDOW_FRAMES } from "../../timeline/index.ts";
import type { Stretch } from "./clean-speech.ts";

/**
 * Two windows' pieces are one when what both have is this part of what either has. On 113 recordings it spares a fifth of
 * all embedding; no number of speakers changes, and no group's DER by more than 0.03 points. With 0.6 two people of a telephone
 * dialogue become one.
 */
const SAME_PART = 0.7;

/** Pieces of voices that windows have had so far, so that what several hear is embedded once. */
export class KnownPieces {
  private known: (Stretch & { readonly number: number })[] = [];

  /** The number of the piece that is most nearly the same; undefined where none is. */
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

  /** Adds a piece under a number, which it gives; no piece that begins before its window comes after it. */
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
