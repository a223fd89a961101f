import { BLOCKS_PER_SECOND, decibelsOf, type Levels, type MeasuredChannels } from "./levels.ts";
import { Correlation, Histogram } from "./statistics.ts";

/** Result of the comparison of two channels: both mixed, one alone, or both as separate channels. */
export type ChannelChoice = "mixed" | "left" | "right" | "apart";

/**
 * A block belongs to both channels unless one is louder by at least this much, after its noise is subtracted. Two
 * microphones in one room, and speakers panned by up to 6 dB, stay below it in 95 % of all blocks. The echo of a call
 * is 15 dB or more below the voice.
 */
const APART_DECIBELS = 9;
/**
 * Channels are one recording if a larger fraction of blocks belongs to both and the channels correlate, see below. The
 * data are 60 synthesized calls with echo of -15 to -30 dB, gains of 20 dB, noise and lossy codecs. Their fraction was
 * at most 0.21, and 0.26 with both parties talking all the time. On rooms, panned stereo and voices over stereo noise,
 * it was at least 0.95.
 */
const MOST_SHARED = 0.5;
/**
 * Channels are one recording only if their levels or their samples also correlate more than this. People who talk at
 * the same time all the time are equally loud in many blocks. On the same synthesized recordings, the levels of those
 * that must be mixed correlate by at least 0.66. The levels of calls reach 0.39, but these calls share too few blocks.
 */
const LEAST_LEVEL_CORRELATION = 0.3;
const LEAST_CORRELATION = 0.2;
/**
 * A channel has content of its own if it is louder by OWN_DECIBELS for LEAST_OWN_SECONDS in total. Only spans of at
 * least LEAST_SPAN_SECONDS count.
 */
const OWN_DECIBELS = 3;
const LEAST_OWN_SECONDS = 0.4;
const LEAST_SPAN_SECONDS = 0.1;
/** Active blocks are within this of the loudest block and above the noise of their channel. */
const ACTIVE_DECIBELS = 30;
const NOISE_PART = 0.1;
/** Levels (half decibels) below the loudest; all blocks quieter than that are treated as equal. */
const QUIETEST_LEVELS = 80;
/** Correlation below which one channel is the inverse of the other. Mixed, they would cancel each other. */
export const INVERTED_CORRELATION = -0.5;

/**
 * Decides how to use the two channels of a whole recording. They stay `apart` if each is louder than the other at some
 * time and both are seldom alike. This is the case on a call with a separate channel for each party. One channel alone
 * is used if the other has no content of its own or is its inverse.
 */
export function compareChannels({ left, right, correlation }: MeasuredChannels): ChannelChoice {
  const found = compareBlocks(left, right);
  const isAlike = found.levelCorrelation > LEAST_LEVEL_CORRELATION || Math.abs(correlation) > LEAST_CORRELATION;
  if (found.active === 0 || (found.shared > MOST_SHARED * found.active && isAlike)) {
    if (correlation > INVERTED_CORRELATION) return "mixed";
    return found.leftLouder >= 0 ? "left" : "right";
  }
  const least = LEAST_OWN_SECONDS * BLOCKS_PER_SECOND;
  if (found.ofRight < least) return "left";
  return found.ofLeft < least ? "right" : "apart";
}

/** Counts the active blocks, those shared by both channels, and those of each channel in spans. */
function compareBlocks(left: Levels, right: Levels) {
  const noise = { left: powerOf(noiseOf(left)), right: powerOf(noiseOf(right)) };
  const loud = Histogram.of(left.map((level, block) => Math.max(level, right[block] ?? 0))).percentile(0.95);
  const leastPower = powerOf(loud) / ratioOf(ACTIVE_DECIBELS);
  const quietest = Math.max(0, loud - QUIETEST_LEVELS);
  const levels = new Correlation();
  const found = { active: 0, shared: 0, ofLeft: 0, ofRight: 0, leftLouder: 0 };
  let span = 0;
  const closeSpan = () => {
    const blocks = Math.abs(span);
    if (blocks >= LEAST_SPAN_SECONDS * BLOCKS_PER_SECOND) found[span > 0 ? "ofLeft" : "ofRight"] += blocks;
    span = 0;
  };
  for (const [block, level] of left.entries()) {
    const other = right[block] ?? 0;
    // Subtracts twice the noise, so that the remainder is sound.
    const l = Math.max(0, powerOf(level) - 2 * noise.left);
    const r = Math.max(0, powerOf(other) - 2 * noise.right);
    const isActive = Math.max(l, r) > leastPower;
    if (isActive) {
      found.active++;
      found.leftLouder += level - other;
      levels.add(Math.max(quietest, level), Math.max(quietest, other));
      if (Math.max(l, r) <= Math.min(l, r) * ratioOf(APART_DECIBELS)) found.shared++;
    }
    const side = !isActive ? 0 : l > r * ratioOf(OWN_DECIBELS) ? 1 : r > l * ratioOf(OWN_DECIBELS) ? -1 : 0;
    if (side * span <= 0) closeSpan();
    span += side;
  }
  closeSpan();
  return { ...found, levelCorrelation: levels.value() };
}

function noiseOf(levels: Levels): number {
  return Histogram.of(levels).percentile(NOISE_PART);
}

const powers = Float64Array.from({ length: 256 }, (_, level) => 10 ** (decibelsOf(level) / 10));

function powerOf(level: number): number {
  return powers[level] ?? 0;
}

function ratioOf(decibels: number): number {
  return 10 ** (decibels / 10);
}
