import { Correlation } from "./correlation.ts";
import { Histogram } from "./histogram.ts";
import { BLOCKS_PER_SECOND, type Levels } from "./levels.ts";

/** The echo of one channel in another. */
export interface Echo {
  readonly delayBlocks: number;
  /** Attenuation of the echo, in levels (half decibels). */
  readonly loss: number;
}

/** Levels (half decibels) per decibel. */
const perDecibel = 2;

/** Longest delay that is searched: 0.6 s, the round trip of a call by satellite. */
const LONGEST_DELAY_BLOCKS = 0.6 * BLOCKS_PER_SECOND;
/** Loud blocks of the source are within LOUD of its loudest level and at least ABOVE_SOURCE_NOISE above its noise. */
const LOUD = 20 * perDecibel;
const ABOVE_SOURCE_NOISE = 10 * perDecibel;
/** Possible echo is quieter than its source by at least LEAST_LOSS and above the noise by ABOVE_NOISE. */
const LEAST_LOSS = 6 * perDecibel;
const ABOVE_NOISE = 6 * perDecibel;
/**
 * Echo follows its source closely: half of its blocks are within WIDEST_SPREAD of the usual loss, and the levels of
 * both correlate. These values were tuned on calls synthesized from five dialogues, with echo of -15 to -30 dB and a
 * delay of 5 to 450 ms. There, the spread was at most 2.3 dB. In addition, the correlation was at least 0.63 or the
 * spread at most 1.5 dB. This held for calls with a few seconds of audible echo in which both parties seldom talked at
 * once. Independent voices that talk at once all the time clearly failed one of the two conditions, or few of their
 * blocks were alike.
 */
const WIDEST_SPREAD = 2.5 * perDecibel;
const LEAST_CORRELATION = 0.62;
/** A lower correlation suffices if the spread is this small, which no independent voices reached for long. */
const CLOSE_SPREAD = 1.5 * perDecibel;
const LEAST_CORRELATION_OF_CLOSE = 0.4;
/** Minimum share of the source's loud blocks in which the echo is present, and minimum number of blocks: a second. */
const LEAST_SHARE = 0.15;
const LEAST_BLOCKS = BLOCKS_PER_SECOND;

/**
 * Finds the echo of one channel (`source`) in another (`heard`) from the levels of both. Returns null if there is no
 * echo.
 */
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

/** Collects the blocks of `heard` that may be echo of the blocks of `source` that are `delay` blocks earlier. */
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

/** Returns the median distance of values from their median. */
function spreadAround(values: Histogram, median: number): number {
  const distances = new Histogram(256);
  for (const [value, count] of values.counts.entries()) {
    if (count > 0) distances.add(Math.abs(value - median), count);
  }
  return distances.percentile(0.5);
}
