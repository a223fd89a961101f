import { type Boundary, boundaryBetween } from "../text/index.ts";
import type { CuePiece } from "./cue-pieces.ts";

/** A subtitle's limits, as broadcasters have them: two lines of 42 columns, seven seconds. */
export const cueLimits = { lines: 2, columns: 42, milliseconds: 7_000 } as const;

/** A cue of fewer columns or less time than this is hard to read, unless the sentence is that short. */
const shortColumns = 16;
const shortMilliseconds = 1_000;
/** A silence of this length between two words is a good place to part them. */
const pauseMilliseconds = 300;

/** A run of pieces, `from` to `to` (exclusive), as one cue. */
export interface CueRange {
  readonly from: number;
  readonly to: number;
  /** Where the second line begins; `to` for a cue of one line. */
  readonly lineBreak: number;
}

/**
 * Splits pieces into cues within `cueLimits`, at the cheapest places: ends of sentences, then of clauses, then pauses, and
 * best not behind an article or the like; few cues, none of them tiny, lines of even length. Only a piece that alone is too long keeps its length.
 */
export function splitCues(pieces: readonly CuePiece[]): CueRange[] {
  const places = new Places(pieces);
  const whole = places.fit(0, pieces.length);
  // Nothing is cheaper than one cue.
  if (whole !== undefined) return [whole];
  const best: { cost: number; range: CueRange }[] = [];
  for (let to = 1; to <= pieces.length; to++) {
    let cheapest: { cost: number; range: CueRange } | undefined;
    for (let from = to - 1; from >= 0; from--) {
      const fitting = places.fit(from, to);
      if (fitting === undefined && from < to - 1) break;
      const range = fitting ?? { from, to, lineBreak: to };
      const before = from === 0 ? 0 : (best[from - 1]?.cost ?? 0);
      const cost = before + places.breakCost(to) + places.shapeCost(range);
      if (cheapest === undefined || cost < cheapest.cost) cheapest = { cost, range };
    }
    if (cheapest !== undefined) best.push(cheapest);
  }
  const ranges: CueRange[] = [];
  for (let to = pieces.length; to > 0; ) {
    const range = best[to - 1]?.range;
    if (range === undefined) break;
    ranges.unshift(range);
    to = range.from;
  }
  return ranges;
}

/** The places between the pieces of a text, and what it costs to part it there. */
class Places {
  readonly #pieces: readonly CuePiece[];
  /** Columns before each place, the spaces included. */
  readonly #columns: number[] = [0];
  readonly #breakCosts: number[];

  constructor(pieces: readonly CuePiece[]) {
    this.#pieces = pieces;
    let columns = 0;
    for (const piece of pieces) {
      columns += piece.width + piece.spaceWidth;
      this.#columns.push(columns);
    }
    this.#breakCosts = pieces.map((piece, index) => costOfBreak(piece, pieces[index + 1]));
  }

  breakCost(at: number): number {
    return this.#breakCosts[at - 1] ?? 0;
  }

  /** Every cue costs one; a tiny one more, and so do lines of uneven length. */
  shapeCost({ from, to, lineBreak }: CueRange): number {
    const wholeText = from === 0 && to === this.#pieces.length;
    const tiny = this.#width(from, to) < shortColumns || this.#duration(from, to) < shortMilliseconds;
    const uneven = lineBreak === to ? 0 : this.#lineCost(from, lineBreak, to);
    return 1 + (tiny && !wholeText ? 0.7 : 0) + 0.3 * uneven;
  }

  /** The pieces as a cue with its best line break; undefined when they don't fit in one. */
  fit(from: number, to: number): CueRange | undefined {
    if (this.#duration(from, to) > cueLimits.milliseconds) return undefined;
    if (this.#width(from, to) <= cueLimits.columns) return { from, to, lineBreak: to };
    let lineBreak: number | undefined;
    let cheapest = Number.POSITIVE_INFINITY;
    for (let at = to - 1; at > from && this.#width(at, to) <= cueLimits.columns; at--) {
      if (this.#width(from, at) > cueLimits.columns) continue;
      const cost = this.#lineCost(from, at, to);
      if (cost < cheapest) {
        cheapest = cost;
        lineBreak = at;
      }
    }
    return lineBreak === undefined ? undefined : { from, to, lineBreak };
  }

  /** 0 for even lines parted at a sentence's end, 1 or a little more for the worst. */
  #lineCost(from: number, at: number, to: number): number {
    const difference = Math.abs(this.#width(from, at) - this.#width(at, to)) / cueLimits.columns;
    return difference + 0.3 * this.breakCost(at);
  }

  /** Columns of a line of these pieces; the space behind the last one doesn't count. */
  #width(from: number, to: number): number {
    return (this.#columns[to] ?? 0) - (this.#columns[from] ?? 0) - (this.#pieces[to - 1]?.spaceWidth ?? 0);
  }

  #duration(from: number, to: number): number {
    return (this.#pieces[to - 1]?.endMilliseconds ?? 0) - (this.#pieces[from]?.startMilliseconds ?? 0);
  }
}

/**
 * What it costs to part two pieces without a pause, by what lies between them. With 2 behind an article and the like, of 485
 * lines of the corpus' English transcripts that others follow 3 end so, and not 99; cues are as many, and their lines half a
 * column less even.
 */
const partingCosts: Record<Boundary, number> = { sentence: 0, perhaps: 1, clause: 0.3, open: 1, bound: 2 };
/** What is left of that where there is one. */
const pausePart = 0.4;
/** A line may end there, but the word goes on. */
const hyphen = /[\p{L}\p{N}]-$/u;

/** What parting two pieces costs; the end of the text costs nothing. */
function costOfBreak(before: CuePiece, after: CuePiece | undefined): number {
  if (after === undefined) return 0;
  const written = hyphen.test(before.text) ? "open" : boundaryBetween(before.text, after.text);
  const cost = partingCosts[written === "open" && before.leadsOn ? "bound" : written];
  return after.startMilliseconds - before.endMilliseconds >= pauseMilliseconds ? pausePart * cost : cost;
}
