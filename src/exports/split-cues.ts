import { type Boundary, boundaryBetween } from "../text/index.ts";
import type { CueFragment } from "./cue-fragments.ts";

/** Limits of a subtitle cue. */
export interface CueLimits {
  /** Maximum columns of a line. */
  readonly columns: number;
  readonly milliseconds: number;
  readonly lines: number;
  readonly words: number;
}

/** Limits as used by broadcasters: two lines of 42 columns, seven seconds. */
export const CUE_LIMITS: CueLimits = { columns: 42, milliseconds: 7_000, lines: 2, words: Number.POSITIVE_INFINITY };

/** A cue with fewer columns or less time is hard to read, unless the sentence is that short. */
const MIN_COLUMNS = 16;
const MIN_MILLISECONDS = 1_000;
/** Minimum pause between two words that makes a good place for a break. */
const PAUSE_MILLISECONDS = 300;

/** A range of fragments, `from` to `to` (exclusive), that form one cue. */
interface CueRange {
  readonly from: number;
  readonly to: number;
  /** Start of the second line; `to` for a cue of one line. */
  readonly lineBreak: number;
}

/**
 * Splits fragments into cues within limits at the lowest total cost. Sentence ends are the cheapest breaks, then
 * clause ends, then pauses; a break after an article or similar word costs most. Few cues, no tiny cues and lines of
 * even length also lower the cost. Only a single fragment that is too long exceeds the limits.
 */
export function splitCues(fragments: readonly CueFragment[], limits: CueLimits): CueRange[] {
  const costs = new BreakCosts(fragments, limits);
  const whole = costs.fit(0, fragments.length);
  // One cue always has the lowest cost.
  if (whole !== undefined) return [whole];
  const best: { cost: number; range: CueRange }[] = [];
  for (let to = 1; to <= fragments.length; to++) {
    let cheapest: { cost: number; range: CueRange } | undefined;
    for (let from = to - 1; from >= 0; from--) {
      const fitting = costs.fit(from, to);
      if (fitting === undefined && from < to - 1) break;
      const range = fitting ?? { from, to, lineBreak: to };
      const before = from === 0 ? 0 : (best[from - 1]?.cost ?? 0);
      const cost = before + costs.breakCost(to) + costs.shapeCost(range);
      if (cheapest === undefined || cost < cheapest.cost) cheapest = { cost, range };
    }
    if (cheapest !== undefined) best.push(cheapest);
  }
  const ranges: CueRange[] = [];
  for (let to = fragments.length; to > 0; ) {
    const range = best[to - 1]?.range;
    if (range === undefined) break;
    ranges.unshift(range);
    to = range.from;
  }
  return ranges;
}

/** The possible breaks between the fragments of a text, and their costs. */
class BreakCosts {
  readonly #fragments: readonly CueFragment[];
  readonly #limits: CueLimits;
  /** Columns before each break, spaces included. */
  readonly #columns: number[] = [0];
  /** Words before each break. */
  readonly #words: number[] = [0];
  readonly #breakCosts: number[];

  constructor(fragments: readonly CueFragment[], limits: CueLimits) {
    this.#fragments = fragments;
    this.#limits = limits;
    let columns = 0;
    for (const fragment of fragments) {
      columns += fragment.width + fragment.spaceWidth;
      this.#columns.push(columns);
      this.#words.push((this.#words.at(-1) ?? 0) + (fragment.isLabel === true ? 0 : 1));
    }
    this.#breakCosts = fragments.map((fragment, index) => costOfBreak(fragment, fragments[index + 1]));
  }

  breakCost(at: number): number {
    return this.#breakCosts[at - 1] ?? 0;
  }

  /**
   * Returns the cost of a cue's shape: one for every cue, plus 0.7 for a tiny cue, plus a part for lines of uneven
   * length.
   */
  shapeCost({ from, to, lineBreak }: CueRange): number {
    const wholeText = from === 0 && to === this.#fragments.length;
    const tiny = this.#width(from, to) < MIN_COLUMNS || this.#duration(from, to) < MIN_MILLISECONDS;
    const uneven = lineBreak === to ? 0 : this.#lineCost(from, lineBreak, to);
    return 1 + (tiny && !wholeText ? 0.7 : 0) + 0.3 * uneven;
  }

  /** Returns the fragments as a cue with its best line break; undefined if they do not fit in one cue. */
  fit(from: number, to: number): CueRange | undefined {
    const { columns, milliseconds, lines, words } = this.#limits;
    // A label is never alone, however long its first word takes.
    const isLabelAndWord = to - from === 2 && this.#fragments[from]?.isLabel === true;
    if (this.#duration(from, to) > milliseconds && !isLabelAndWord) return undefined;
    if ((this.#words[to] ?? 0) - (this.#words[from] ?? 0) > words) return undefined;
    if (this.#width(from, to) <= columns) return { from, to, lineBreak: to };
    if (lines < 2) return undefined;
    let lineBreak: number | undefined;
    let cheapest = Number.POSITIVE_INFINITY;
    for (let at = to - 1; at > from && this.#width(at, to) <= columns; at--) {
      if (this.#width(from, at) > columns) continue;
      const cost = this.#lineCost(from, at, to);
      if (cost < cheapest) {
        cheapest = cost;
        lineBreak = at;
      }
    }
    return lineBreak === undefined ? undefined : { from, to, lineBreak };
  }

  /**
   * Returns the cost of a line break: 0 for even lines that are split at a sentence's end, 1 or a little more in the
   * worst case.
   */
  #lineCost(from: number, at: number, to: number): number {
    const difference = Math.abs(this.#width(from, at) - this.#width(at, to)) / this.#limits.columns;
    return difference + 0.3 * this.breakCost(at);
  }

  /** Returns the columns of a line of these fragments, without the space after the last one. */
  #width(from: number, to: number): number {
    return (this.#columns[to] ?? 0) - (this.#columns[from] ?? 0) - (this.#fragments[to - 1]?.spaceWidth ?? 0);
  }

  #duration(from: number, to: number): number {
    return (this.#fragments[to - 1]?.endMilliseconds ?? 0) - (this.#fragments[from]?.startMilliseconds ?? 0);
  }
}

/**
 * Costs of a break between two fragments without a pause, by the boundary between them. `bound` costs 2 and applies
 * after an article or similar word. With it, 3 of 485 lines of the corpus' English transcripts that are followed by
 * another line end with such a word, instead of 99. The number of cues stays the same, and their lines are half a
 * column less even.
 */
const BOUNDARY_COSTS: Record<Boundary, number> = { sentence: 0, perhaps: 1, clause: 0.3, open: 1, bound: 2 };
/** Cost of a break after a speaker's label, which is never better than any other break. */
const LABEL_COST = 1000;
/** Factor for the cost of a break at a pause. */
const PAUSE_FACTOR = 0.4;
/** A hyphen, after which a line may end although the word continues. */
const hyphen = /[\p{L}\p{N}]-$/u;

/** Returns the cost of a break between two fragments; the end of the text costs nothing. */
function costOfBreak(before: CueFragment, after: CueFragment | undefined): number {
  if (after === undefined) return 0;
  if (before.isLabel === true) return LABEL_COST;
  const written = hyphen.test(before.text) ? "open" : boundaryBetween(before.text, after.text);
  const cost = BOUNDARY_COSTS[written === "open" && before.bindsToNext ? "bound" : written];
  return after.startMilliseconds - before.endMilliseconds >= PAUSE_MILLISECONDS ? PAUSE_FACTOR * cost : cost;
}
