import { type Boundary, boundaryBetween } from "../text/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";

/** A silence that parts what one speaker says, whatever is said: as long as one that ends a turn in which nobody else speaks. */
const longPauseSeconds = 1.2;
/** A silence above this had better lie between two segments. */
const shortPauseSeconds = 0.7;
/** A full stop that may be an abbreviation's ends a sentence where at least this silence follows. */
const stopPauseSeconds = 0.35;

/** What is shorter flashes by; what is longer than comfortable, or than long, is better read in parts. */
const flashSeconds = 1.6;
const comfortableSeconds = 8;
const longSeconds = 15;
/** Nothing is as long as this unless it is one word. */
const maxSeconds = 20;
/** No speaker is quicker; where times are wrong, a segment's letters count. */
const lettersPerSecond = 20;

/** What it costs to part two words without a pause, by what lies between them. */
const partingCosts: Record<Boundary, number> = { sentence: 0, perhaps: 0.9, clause: 0.45, open: 1, bound: 3 };
/** What it costs to leave two sentences together. */
const joiningCost = 0.15;

/**
 * What one speaker says without a break by another, in pieces to read: a sentence each where there are any, very short ones
 * together with a neighbour, those of more than 15 s in parts. Of all ways to split it takes the cheapest one.
 * @param words in order, of one speaker, none of them blank
 */
export function splitSentences(words: readonly SpokenWord[]): SpokenWord[][] {
  const gaps = gapsBetween(words);
  // best[n]: the cheapest way to split the first n words, by its last piece.
  const best: { readonly cost: number; readonly from: number }[] = [{ cost: 0, from: 0 }];
  for (let to = 1; to <= words.length; to++) {
    let cheapest = { cost: Number.POSITIVE_INFINITY, from: to - 1 };
    let letters = 0;
    let joined = 0;
    for (let from = to - 1; from >= 0; from--) {
      letters += words[from]?.text.length ?? 0;
      const seconds = Math.max(
        (words[to - 1]?.endSeconds ?? 0) - (words[from]?.startSeconds ?? 0),
        letters / lettersPerSecond,
      );
      if (from < to - 1 && seconds > maxSeconds) break;
      const gap = gaps[from];
      const cost = (best[from]?.cost ?? 0) + (gap?.parting ?? 0) + joined + lengthCost(seconds);
      if (cost < cheapest.cost) cheapest = { cost, from };
      if (gap?.isLong) break;
      joined += gap?.joining ?? 0;
    }
    best.push(cheapest);
  }
  const pieces: SpokenWord[][] = [];
  for (let to = words.length; to > 0; ) {
    const from = best[to]?.from ?? 0;
    pieces.push(words.slice(from, to));
    to = from;
  }
  return pieces.reverse();
}

function lengthCost(seconds: number): number {
  if (seconds < flashSeconds) return 0.6 * (flashSeconds - seconds);
  const uncomfortable = 0.03 * Math.max(0, Math.min(seconds, longSeconds) - comfortableSeconds);
  return uncomfortable + 0.4 * Math.max(0, seconds - longSeconds);
}

/** The place before a word. */
interface Gap {
  readonly parting: number;
  readonly joining: number;
  readonly isLong: boolean;
}

/** The gap before each word but the first, which has none. */
function gapsBetween(words: readonly SpokenWord[]): (Gap | null)[] {
  const starts = wordStarts(words);
  let offset = 0;
  return words.map((word, index) => {
    const before = words[index - 1];
    const from = offset;
    offset += word.text.length;
    if (before === undefined) return null;
    const pause = Math.max(0, word.startSeconds - before.endSeconds);
    const written = boundaryBetween(before.text, word.text);
    const boundary = starts.has(from) ? heardBoundary(written, pause) : "bound";
    return {
      parting: partingCosts[boundary] * (1 - 0.9 * Math.min(1, pause / 2)),
      joining: (boundary === "sentence" ? joiningCost : 0) + 0.4 * Math.max(0, pause - shortPauseSeconds),
      isLong: pause >= longPauseSeconds,
    };
  });
}

function heardBoundary(written: Boundary, pause: number): Boundary {
  if (written !== "perhaps") return written;
  return pause >= stopPauseSeconds ? "sentence" : "perhaps";
}

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** Where in the words' joined text a word begins; whisper's pieces of languages without spaces may be parts of one. */
function wordStarts(words: readonly SpokenWord[]): { has(offset: number): boolean } {
  if (words.every(({ text }, index) => index === 0 || /^\s/u.test(text))) return { has: () => true };
  const text = words.map((word) => word.text).join("");
  return new Set(Array.from(segmenter.segment(text), ({ index }) => index));
}
