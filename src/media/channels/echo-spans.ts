import { BLOCKS_PER_SECOND, LEVELS_PER_DECIBEL, type Levels } from "./levels.ts";
import { Correlation, Histogram } from "./statistics.ts";

/** Length of a section. Echo is detected in each section, because its path changes when somebody joins or moves. */
const SECTION_BLOCKS = 600 * BLOCKS_PER_SECOND;
/** Levels by which a voice of the channel's own exceeds the expected echo: 6 dB. */
const MARGIN_LEVELS = 12;
/** Echo may arrive this much earlier and later than usual, because rooms reverberate. */
const SOONER_BLOCKS = 3;
const LATER_BLOCKS = 6;
/**
 * The channel's own voice is present in at least three of five blocks. It is extended by 0.15 s on either side, and
 * lasts at least 0.25 s in total per span. Echo is sometimes louder for the length of a consonant, because telephone
 * lines do not transmit all consonants equally.
 */
const MAJORITY_BLOCKS = 5;
const HOLD_BLOCKS = 6;
const LEAST_OWN_BLOCKS = 10;

/** Blocks `[start, end)`. */
export interface BlockSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the spans of `channel` that contain only the echo of another channel, `source`: the level stays within the echo
 * expected from the source. When both parties talk at once, the channel's own voice is louder, so it is not silenced.
 */
export function echoSpans(source: Levels, channel: Levels): BlockSpan[] {
  const spans: BlockSpan[] = [];
  const sections = Math.max(1, Math.round(channel.length / SECTION_BLOCKS));
  for (let section = 0; section < sections; section++) {
    const from = Math.floor((section * channel.length) / sections);
    const to = Math.floor(((section + 1) * channel.length) / sections);
    const [ofSource, ofChannel] = [source.subarray(from, to), channel.subarray(from, to)];
    const echo = findEcho(ofSource, ofChannel);
    if (echo === null) continue;
    for (const { start, end } of runsOf(echoOnly(ofSource, ofChannel, echo))) {
      spans.push({ start: start + from, end: end + from });
    }
  }
  return spans;
}

/** Marks with 1 each block that is only echo. */
function echoOnly(source: Levels, channel: Levels, echo: Echo): Uint8Array {
  const noise = Histogram.of(channel).percentile(0.1);
  const expected = channel.map((_, block) => {
    const last = block - echo.delayBlocks + SOONER_BLOCKS;
    const first = block - echo.delayBlocks - LATER_BLOCKS;
    const loudest = source.subarray(Math.max(0, first), Math.max(0, last + 1)).reduce((a, b) => Math.max(a, b), 0);
    return Math.max(0, loudest - echo.loss);
  });
  const own = channel.map((level, block) => (level > (expected[block] ?? 0) + MARGIN_LEVELS ? 1 : 0));
  const voice = withoutIslands(majority(own));
  return expected.map((level, block) => (level >= noise && voice[block] === 0 ? 1 : 0));
}

function majority(marks: Uint8Array): Uint8Array {
  const half = (MAJORITY_BLOCKS - 1) / 2;
  return marks.map((_, block) => {
    let count = 0;
    for (let near = block - half; near <= block + half; near++) count += marks[near] ?? 0;
    return count > half ? 1 : 0;
  });
}

/** Extends runs, merges runs that then touch, and drops runs that contain few marked blocks. */
function withoutIslands(marks: Uint8Array): Uint8Array {
  const wide = new Uint8Array(marks.length);
  for (const { start, end } of runsOf(marks)) wide.fill(1, Math.max(0, start - HOLD_BLOCKS), end + HOLD_BLOCKS);
  for (const { start, end } of runsOf(wide)) {
    const own = marks.subarray(start, end).reduce((sum, mark) => sum + mark, 0);
    if (own < LEAST_OWN_BLOCKS) wide.fill(0, start, end);
  }
  return wide;
}

function runsOf(marks: Uint8Array): BlockSpan[] {
  const runs: BlockSpan[] = [];
  for (let start = marks.indexOf(1); start >= 0; ) {
    const next = marks.indexOf(0, start);
    const end = next < 0 ? marks.length : next;
    runs.push({ start, end });
    start = marks.indexOf(1, end);
    if (next < 0) break;
  }
  return runs;
}

/** The echo of one channel in another. */
interface Echo {
  readonly delayBlocks: number;
  /** Attenuation of the echo, in levels (half decibels). */
  readonly loss: number;
}

/** Longest delay that is searched: 0.6 s, the round trip of a call by satellite. */
const LONGEST_DELAY_BLOCKS = 0.6 * BLOCKS_PER_SECOND;
/** Loud blocks of the source are within LOUD of its loudest level and at least ABOVE_SOURCE_NOISE above its noise. */
const LOUD = 20 * LEVELS_PER_DECIBEL;
const ABOVE_SOURCE_NOISE = 10 * LEVELS_PER_DECIBEL;
/** Possible echo is quieter than its source by at least LEAST_LOSS and above the noise by ABOVE_NOISE. */
const LEAST_LOSS = 6 * LEVELS_PER_DECIBEL;
const ABOVE_NOISE = 6 * LEVELS_PER_DECIBEL;
/**
 * Echo follows its source closely: half of its blocks are within WIDEST_SPREAD of the usual loss, and the levels of
 * both correlate. Tuned on calls synthesized from five dialogues, with echo of -15 to -30 dB and a delay of 5 to 450
 * ms. The spread was at most 2.3 dB, and the correlation at least 0.63 or the spread at most 1.5 dB. Independent voices
 * that talk at once all the time clearly failed one of the conditions, or few of their blocks were alike.
 */
const WIDEST_SPREAD = 2.5 * LEVELS_PER_DECIBEL;
const LEAST_CORRELATION = 0.62;
/** A lower correlation suffices if the spread is this small, which no independent voices reached for long. */
const CLOSE_SPREAD = 1.5 * LEVELS_PER_DECIBEL;
const LEAST_CORRELATION_OF_CLOSE = 0.4;
/** Minimum share of the source's loud blocks in which the echo is present, and minimum number of blocks: a second. */
const LEAST_SHARE = 0.15;
const LEAST_BLOCKS = BLOCKS_PER_SECOND;

/** Finds the echo of `source` in another channel from the levels of both; null if there is none. */
function findEcho(source: Levels, channel: Levels): Echo | null {
  const sourceLevels = Histogram.of(source);
  const leastSource = Math.max(sourceLevels.percentile(0.95) - LOUD, sourceLevels.percentile(0.1) + ABOVE_SOURCE_NOISE);
  const leastChannel = Histogram.of(channel).percentile(0.1) + ABOVE_NOISE;
  let best: (Echo & { spread: number }) | null = null;
  for (let delayBlocks = 0; delayBlocks <= LONGEST_DELAY_BLOCKS; delayBlocks++) {
    const pairs = pairsAt(source, channel, delayBlocks, leastSource, leastChannel);
    if (pairs.losses.total < Math.max(LEAST_BLOCKS, LEAST_SHARE * pairs.loud)) continue;
    const loss = pairs.losses.percentile(0.5);
    const spread = spreadAround(pairs.losses, loss);
    const leastCorrelation = spread <= CLOSE_SPREAD ? LEAST_CORRELATION_OF_CLOSE : LEAST_CORRELATION;
    const isEcho = spread <= WIDEST_SPREAD && pairs.correlation >= leastCorrelation;
    if (isEcho && (best === null || spread < best.spread)) best = { delayBlocks, loss, spread };
  }
  return best === null ? null : { delayBlocks: best.delayBlocks, loss: best.loss };
}

/** Collects the blocks of `channel` that may be echo of the blocks of `source` that are `delay` blocks earlier. */
function pairsAt(source: Levels, channel: Levels, delay: number, leastSource: number, leastChannel: number) {
  const losses = new Histogram(256);
  const levels = new Correlation();
  let loud = 0;
  for (let block = delay; block < channel.length; block++) {
    const x = source[block - delay] ?? 0;
    const y = channel[block] ?? 0;
    if (x <= leastSource) continue;
    loud++;
    if (y <= leastChannel || x - y < LEAST_LOSS) continue;
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
