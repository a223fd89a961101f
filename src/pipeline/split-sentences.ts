import { type Boundary, boundaryBetween } from "../text/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";

/** Silence, in seconds, that always splits one speaker's words; it also ends a turn while nobody else speaks. */
const LONG_PAUSE_SECONDS = 1.2;
/** Silence, in seconds, above which a split is preferred. */
const SHORT_PAUSE_SECONDS = 0.7;
/** Minimum silence, in seconds, after which a full stop that may belong to an abbreviation ends a sentence. */
const STOP_PAUSE_SECONDS = 0.35;

/**
 * Bounds of a comfortable segment, in seconds. Segments below `FLASH_SECONDS` disappear too fast to read; a split is
 * preferred above `COMFORTABLE_SECONDS`, and even more above `LONG_SECONDS`.
 */
const FLASH_SECONDS = 1.6;
const COMFORTABLE_SECONDS = 8;
const LONG_SECONDS = 15;
/** Maximum length of a segment, in seconds, unless it is a single word. */
const MAX_SECONDS = 20;
/** Maximum speaking rate. If word times are wrong, the letters give a lower bound of a segment's duration. */
const LETTERS_PER_SECOND = 20;

/** Cost of a split between two words without a pause, by the boundary between them. */
const SPLIT_COSTS: Record<Boundary, number> = { sentence: 0, perhaps: 0.9, clause: 0.45, open: 1, bound: 3 };
/** Cost of keeping two sentences in one segment. */
const JOINING_COST = 0.15;

/**
 * Splits one speaker's uninterrupted words into segments for reading. Each sentence is a segment, if sentence ends are
 * known. Very short sentences join a neighbour, and those of more than 15 s are split. Of all ways to split, it chooses
 * the one with the lowest cost.
 * @param words in order, of one speaker, none of them blank
 */
export function splitSentences(words: readonly SpokenWord[]): SpokenWord[][] {
  const gaps = gapsBetween(words);
  // best[n]: the lowest cost of splitting the first n words, and the start of the last segment.
  const best: { readonly cost: number; readonly from: number }[] = [{ cost: 0, from: 0 }];
  for (let to = 1; to <= words.length; to++) {
    let cheapest = { cost: Number.POSITIVE_INFINITY, from: to - 1 };
    let letters = 0;
    let joined = 0;
    for (let from = to - 1; from >= 0; from--) {
      letters += words[from]?.text.length ?? 0;
      const seconds = Math.max(
        (words[to - 1]?.endSeconds ?? 0) - (words[from]?.startSeconds ?? 0),
        letters / LETTERS_PER_SECOND,
      );
      if (from < to - 1 && seconds > MAX_SECONDS) break;
      const gap = gaps[from];
      const cost = (best[from]?.cost ?? 0) + (gap?.splitting ?? 0) + joined + lengthCost(seconds);
      if (cost < cheapest.cost) cheapest = { cost, from };
      if (gap?.isLong) break;
      joined += gap?.joining ?? 0;
    }
    best.push(cheapest);
  }
  const segments: SpokenWord[][] = [];
  for (let to = words.length; to > 0; ) {
    const from = best[to]?.from ?? 0;
    segments.push(words.slice(from, to));
    to = from;
  }
  return segments.reverse();
}

function lengthCost(seconds: number): number {
  if (seconds < FLASH_SECONDS) return 0.6 * (FLASH_SECONDS - seconds);
  const uncomfortable = 0.03 * Math.max(0, Math.min(seconds, LONG_SECONDS) - COMFORTABLE_SECONDS);
  return uncomfortable + 0.4 * Math.max(0, seconds - LONG_SECONDS);
}

/** The costs at the place before a word: `splitting` for a split, `joining` for none. */
interface Gap {
  readonly splitting: number;
  readonly joining: number;
  readonly isLong: boolean;
}

/** Returns the gap before each word; the first word has none. */
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
    const boundary = starts.has(from) ? spokenBoundary(written, pause) : "bound";
    return {
      splitting: SPLIT_COSTS[boundary] * (1 - 0.9 * Math.min(1, pause / 2)),
      joining: (boundary === "sentence" ? JOINING_COST : 0) + 0.4 * Math.max(0, pause - SHORT_PAUSE_SECONDS),
      isLong: pause >= LONG_PAUSE_SECONDS,
    };
  });
}

function spokenBoundary(written: Boundary, pause: number): Boundary {
  if (written !== "perhaps") return written;
  return pause >= STOP_PAUSE_SECONDS ? "sentence" : "perhaps";
}

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** Returns the offsets in the joined text at which words begin. Without spaces, tokens may be parts of a word. */
function wordStarts(words: readonly SpokenWord[]): { has(offset: number): boolean } {
  if (words.every(({ text }, index) => index === 0 || /^\s/u.test(text))) return { has: () => true };
  const text = words.map((word) => word.text).join("");
  return new Set(Array.from(segmenter.segment(text), ({ index }) => index));
}
