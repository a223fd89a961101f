import { Correlation } from "./correlation.ts";
import { Histogram } from "./histogram.ts";
import { BLOCKS_PER_SECOND, type Levels } from "./levels.ts";

/** How one channel is heard in another. */
export interface Echo {
  readonly delayBlocks: number;
  /** Levels (half decibels) that are lost on the way. */
  readonly loss: number;
}

/** Half decibels in a decibel. */
const perDecibel = 2;

/** Delays that are looked for: up to 0.6 s, the way to the other end of a call by satellite and back. */
const LONGEST_DELAY_BLOCKS = 0.6 * BLOCKS_PER_SECOND;
/** Blocks in which the source is loud: within this of its loudest, and so much above its noise. */
const LOUD = 20 * perDecibel;
const ABOVE_SOURCE_NOISE = 10 * perDecibel;
/** What may be echo is quieter than its source, and more than noise. */
const LEAST_LOSS = 6 * perDecibel;
const ABOVE_NOISE = 6 * perDecibel;
/**
 * Echo follows its source closely: half of its blocks are within this of the usual loss, and levels of both correlate. On
 * calls built of five dialogues, with echo of -15 to -30 dB, 5 to 450 ms late, the first was at most 2.3 dB, and the second
 * at least 0.63 or the first at most 1.5 dB, wherever a few seconds of it were to be heard and seldom both talked. Of
 * independent voices that talk at once all the time one of the two was missed by far, or few blocks were alike at all.
 */
const WIDEST_SPREAD = 2.5 * perDecibel;
const LEAST_CORRELATION = 0.62;
/** Where it follows as closely as this, which no independent voice did for long, less of a correlation will do. */
const CLOSE_SPREAD = 1.5 * perDecibel;
const LEAST_CORRELATION_OF_CLOSE = 0.4;
/** Least share of the source's loud blocks in which it is heard, and least number of blocks: a second. */
const LEAST_SHARE = 0.15;
const LEAST_BLOCKS = BLOCKS_PER_SECOND;

/** Finds how a channel (`source`) is heard in another (`heard`), from the levels of both; null where it is not. */
export function findEcho(source: Levels, heard: Levels): Echo | null {
  const sourceLevels = Histogram.of(source);
  const leastSource = Math.max(sourceLevels.percentile(0.95) - LOUD, sourceLevels.percentile(0.1) + ABOVE_SOURCE_NOISE);
  const leastHeard = Histogram.of(heard).percentile(0.1) + ABOVE_NOISE;
  let best: (Echo & { spread: number }) | null = null;
  for (let delayBlocks = 0; delayBlocks <= LONGEST_DELAY_BLOCKS; delayBlocks++) {
    const pairs = pairsAt(source, heard, delayBlocks, leastSource, leastHeard);
    if (pairs.losses.total < Math.max(LEAST_BLOCKS, LEAST_SHARE * pairs.loud)) continue;
    const loss = pairs.losses.percentile(0.5);
    const spread = spreadAround(pairs.losses, loss);
    const leastCorrelation = spread <= CLOSE_SPREAD ? LEAST_CORRELATION_OF_CLOSE : LEAST_CORRELATION;
    const isEcho = spread <= WIDEST_SPREAD && pairs.correlation >= leastCorrelation;
    if (isEcho && (best === null || spread < best.spread)) best = { delayBlocks, loss, spread };
  }
  return best === null ? null : { delayBlocks: best.delayBlocks, loss: best.loss };
}

/** The blocks of `heard` that may be echo of those of `source` so much earlier. */
function pairsAt(source: Levels, heard: Levels, delay: number, leastSource: number, leastHeard: number) {
  const losses = new Histogram(256);
  const levels = new Correlation();
  let loud = 0;
  for (let block = delay; block < heard.length; block++) {
    const x = source[block - delay] ?? 0;
    const y = heard[block] ?? 0;
    if (x <= leastSource) continue;
    loud++;
    if (y <= leastHeard || x - y < LEAST_LOSS) continue;
    losses.add(x - y);
    levels.add(x, y);
  }
  return { losses, loud, correlation: levels.value() };
}

/** The median distance of values from their median. */
function spreadAround(values: Histogram, median: number): number {
  const distances = new Histogram(256);
  for (const [value, count] of values.counts.entries()) {
    if (count > 0) distances.add(Math.abs(value - median), count);
  }
  return distances.percentile(0.5);
}
