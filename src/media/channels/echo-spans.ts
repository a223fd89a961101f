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

/** Longest delay that is searched: 1 s, as with two satellites or the buffers of a conference, and its drift. */
const LONGEST_DELAY_BLOCKS = 1.05 * BLOCKS_PER_SECOND;
/** Loud blocks of the source are within LOUD of its loudest level and at least ABOVE_SOURCE_NOISE above its noise. */
const LOUD = 20 * LEVELS_PER_DECIBEL;
const ABOVE_SOURCE_NOISE = 10 * LEVELS_PER_DECIBEL;
/** Possible echo is quieter than its source by at least LEAST_LOSS and above the noise by ABOVE_NOISE. */
const LEAST_LOSS = 6 * LEVELS_PER_DECIBEL;
const ABOVE_NOISE = 6 * LEVELS_PER_DECIBEL;
/**
 * Echo follows its source closely: half of its blocks are within WIDEST_SPREAD of the usual loss, and the levels of
 * both correlate. At most other delays, the spread is much larger: it is less than DISTINCT of their median, which is
 * at least LEAST_MEDIAN. Voices that talk at once, music and tones fit many delays alike.
 *
 * Tuned on channels of 20 and 60 s made from single voices. Of 320 with echo of -18 dB and up to 1 s, plain, in the
 * telephone band, in a room, in noise or with a changing delay, one is missed. Of 512 without echo, with voices that
 * talk at once, music and tones, none is taken for it. With 0.5 for DISTINCT, 11 are missed. Without LEAST_MEDIAN, ten
 * with music are taken for echo.
 */
const WIDEST_SPREAD = 4 * LEVELS_PER_DECIBEL;
const DISTINCT = 0.55;
const LEAST_MEDIAN = 3 * LEVELS_PER_DECIBEL;
const LEAST_CORRELATION = 0.35;
/**
 * Minimum share of the source's loud blocks in which the echo is present, and minimum number of blocks: a second. With a
 * share of 0.15, four words that both parties of a call of 20 s said at nearly the same time were taken for echo.
 */
const LEAST_SHARE = 0.2;
const LEAST_BLOCKS = BLOCKS_PER_SECOND;

/** Finds the echo of `source` in another channel from the levels of both; null if there is none. */
function findEcho(source: Levels, channel: Levels): Echo | null {
  const sourceLevels = Histogram.of(source);
  const leastSource = Math.max(sourceLevels.percentile(0.95) - LOUD, sourceLevels.percentile(0.1) + ABOVE_SOURCE_NOISE);
  const leastChannel = Histogram.of(channel).percentile(0.1) + ABOVE_NOISE;
  const loud = blocksAbove(source, leastSource);
  const spreads = new Histogram(256);
  let best: (Echo & { spread: number }) | null = null;
  for (let delayBlocks = 0; delayBlocks <= LONGEST_DELAY_BLOCKS; delayBlocks++) {
    const { losses, correlation } = pairsAt(source, channel, loud, delayBlocks, leastChannel);
    if (losses.total < Math.max(LEAST_BLOCKS, LEAST_SHARE * loud.length)) continue;
    const loss = losses.percentile(0.5);
    const spread = spreadAround(losses, loss);
    spreads.add(spread);
    const isEcho = spread <= WIDEST_SPREAD && correlation >= LEAST_CORRELATION;
    if (isEcho && (best === null || spread < best.spread)) best = { delayBlocks, loss, spread };
  }
  const median = spreads.percentile(0.5);
  return best !== null && median >= LEAST_MEDIAN && best.spread < DISTINCT * median ? best : null;
}

/** Returns the indices of the blocks above a level. */
function blocksAbove(levels: Levels, least: number): Int32Array {
  const blocks = new Int32Array(levels.length);
  let count = 0;
  for (let block = 0; block < levels.length; block++) if ((levels[block] ?? 0) > least) blocks[count++] = block;
  return blocks.subarray(0, count);
}

/** Compares each loud block of `source` to the block of `channel` that is `delay` blocks later, if it may be echo. */
function pairsAt(source: Levels, channel: Levels, loud: Int32Array, delay: number, leastChannel: number) {
  const losses = new Histogram(256);
  const levels = new Correlation();
  for (let at = 0; at < loud.length; at++) {
    const block = loud[at] ?? 0;
    const x = source[block] ?? 0;
    const y = channel[block + delay] ?? 0;
    if (y <= leastChannel || x - y < LEAST_LOSS) continue;
    losses.add(x - y);
    levels.add(x, y);
  }
  return { losses, correlation: levels.value() };
}

/** Returns the median distance of values from their median. */
function spreadAround(values: Histogram, median: number): number {
  const distances = new Histogram(256);
  for (const [value, count] of values.counts.entries()) {
    if (count > 0) distances.add(Math.abs(value - median), count);
  }
  return distances.percentile(0.5);
}
