import type { EngineWord } from "../../timeline/index.ts";

/** Difference between the ends of a word in two passes from which it counts as another word. */
const SAME_WORD_SECONDS = 0.8;
/** Inaccuracy of word times that costs nothing. */
const TOLERANCE_SECONDS = 0.1;
/** Cost of each second by which repeated words go beyond the known ones, and by which new words begin before their end. */
const LATE_COST = 1;
const EARLY_COST = 1.5;
/** A known word that ends so soon after the start of a pass may be cut, and missing in it. */
const CUT_SECONDS = 0.25;

/** Number of known words with which the beginning of a pass is compared. */
const COMPARED_WORDS = 12;

/**
 * Returns how many words at the beginning of a live pass repeat known ones, for recognizers that cannot begin with a text.
 * Times alone do not tell: between two passes, the end of a word moves by some tenths of a second, and a word would be
 * lost or repeated. So the words are aligned by text and time (edit distance), and the cheapest number is taken.
 * @param words with times from the start of the sound, as those of `allKnown`
 */
export function repeatedCount(words: readonly EngineWord[], allKnown: readonly EngineWord[]): number {
  const known = allKnown.slice(-COMPARED_WORDS);
  const knownSeconds = known.at(-1)?.endSeconds ?? 0;
  const skipped = skippedCount(words, known[0]);
  const compared = words.slice(skipped);
  // costs[k]: of the cheapest alignment of the known words so far with the first k words of the pass.
  let costs = Array.from({ length: compared.length + 1 }, (_, count) => count);
  for (const word of known) {
    const missing = word.endSeconds <= CUT_SECONDS ? 0 : 1;
    const next = [(costs[0] ?? 0) + missing];
    for (const [at, other] of compared.entries()) {
      const aligned = (costs[at] ?? 0) + replacementCost(word, other);
      next.push(Math.min(aligned, (costs[at + 1] ?? 0) + missing, (next[at] ?? 0) + 1));
    }
    costs = next;
  }
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [count, cost] of costs.entries()) {
    const whole = (known.length === 0 ? 0 : cost) + timeCost(compared, count, knownSeconds);
    if (whole >= least) continue;
    least = whole;
    best = count;
  }
  return skipped + best;
}

/** Returns the number of words before the first known word, which are known, too. */
function skippedCount(words: readonly EngineWord[], first: EngineWord | undefined): number {
  if (first === undefined) return 0;
  const at = words.findIndex((word) => middleOf(word) > first.startSeconds - CUT_SECONDS);
  return at < 0 ? words.length : at;
}

function replacementCost(one: EngineWord, other: EngineWord): number {
  if (Math.abs(one.endSeconds - other.endSeconds) >= SAME_WORD_SECONDS) return 2;
  return comparableText(one.text) === comparableText(other.text) ? 0 : 1;
}

/** Returns the cost of the times if the first `count` words are repeated and the others are new. */
function timeCost(words: readonly EngineWord[], count: number, knownSeconds: number): number {
  const last = words[count - 1];
  const next = words[count];
  const late = last === undefined ? 0 : last.endSeconds - knownSeconds - TOLERANCE_SECONDS;
  const early = next === undefined ? 0 : knownSeconds - TOLERANCE_SECONDS - middleOf(next);
  return LATE_COST * Math.max(0, late) + EARLY_COST * Math.max(0, early);
}

function middleOf({ startSeconds, endSeconds }: EngineWord): number {
  return (startSeconds + endSeconds) / 2;
}

/** Returns a text without case, spaces and punctuation, in which two recognitions of the same words may differ. */
export function comparableText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
}
