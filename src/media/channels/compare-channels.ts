import { Correlation } from "./correlation.ts";
import { Histogram } from "./histogram.ts";
import { BLOCKS_PER_SECOND, decibelsOf, type Levels, type MeasuredChannels } from "./levels.ts";

/** What is to be heard of two channels: both mixed, one alone, or each by itself. */
export type ChannelChoice = "mixed" | "left" | "right" | "apart";

/**
 * A block belongs to both channels unless one is louder by this much, without its noise. Two microphones of a room and
 * speakers panned by up to 6 dB stay under it in 95 % of all blocks; the echo of a call is 15 dB and more below the voice.
 */
const APART_DECIBELS = 9;
/**
 * Channels are one recording where more blocks than this belong to both. On 60 built calls (echo of -15 to -30 dB, gains
 * of 20 dB, noise, lossy codecs) it was at most 0.21, with both talking all the time 0.26; on rooms, panned stereo and
 * voices over stereo noise at least 0.95.
 */
const MOST_SHARED = 0.5;
/**
 * Or where the levels of both go together like this, and the samples too: people who talk at once all the time are as loud
 * as each other in many blocks. Of the same built recordings, calls had at most 0.39 and all that is to be mixed at least 0.66.
 */
const LEAST_LEVEL_CORRELATION = 0.3;
const LEAST_CORRELATION = 0.2;
/** A channel says something of its own where it is louder by this for so long in all, in stretches of at least the other. */
const OWN_DECIBELS = 3;
const LEAST_OWN_SECONDS = 0.4;
const LEAST_STRETCH_SECONDS = 0.1;
/** Blocks count that are within this of the loudest, and above the noise of their channel. */
const ACTIVE_DECIBELS = 30;
const NOISE_PART = 0.1;
/** Levels (half decibels) below the loudest under which it makes no difference how quiet a block is. */
const QUIETEST_LEVELS = 80;
/** One channel is the other upside down: mixed, they would cancel. */
const INVERTED_CORRELATION = -0.5;

/**
 * Decides over a whole recording how its two channels are to be heard. They stay `apart` where each is louder than the other
 * at some time, and seldom both are alike, as on a call with a channel for each party; one alone is taken where the other
 * has nothing of its own, or is the same upside down.
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

/** Counts blocks in which there is something to hear: those of both channels, and those of each in stretches. */
function compareBlocks(left: Levels, right: Levels) {
  const noise = { left: powerOf(noiseOf(left)), right: powerOf(noiseOf(right)) };
  const loud = Histogram.of(left.map((level, block) => Math.max(level, right[block] ?? 0))).percentile(0.95);
  const leastPower = powerOf(loud) / ratioOf(ACTIVE_DECIBELS);
  const quietest = Math.max(0, loud - QUIETEST_LEVELS);
  const levels = new Correlation();
  const found = { active: 0, shared: 0, ofLeft: 0, ofRight: 0, leftLouder: 0 };
  let stretch = 0;
  const close = () => {
    const blocks = Math.abs(stretch);
    if (blocks >= LEAST_STRETCH_SECONDS * BLOCKS_PER_SECOND) found[stretch > 0 ? "ofLeft" : "ofRight"] += blocks;
    stretch = 0;
  };
  for (const [block, level] of left.entries()) {
    const other = right[block] ?? 0;
    // Twice the noise, so that what is left is a sound.
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
    if (side * stretch <= 0) close();
    stretch += side;
  }
  close();
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
