import { Histogram } from "./histogram.ts";
import { BLOCKS_PER_SECOND, decibelsOf, type Levels, type MeasuredChannels } from "./levels.ts";

/** What is to be heard of two channels: both mixed, one alone, or each by itself. */
export type ChannelChoice = "mixed" | "left" | "right" | "apart";

/**
 * A block belongs to the channel that is louder by this much, without its noise. Two microphones of a room and speakers
 * panned by up to 6 dB stay under it in 95 % of all blocks; the echo of a call is 15 dB and more below the voice.
 */
const LEAD_DECIBELS = 9;
/**
 * Channels are one recording where more blocks than this belong to neither. On 60 built calls (echo of -15 to -30 dB, gains
 * of 20 dB, noise, lossy codecs) it was at most 0.19, with both talking all the time 0.26; on rooms, panned stereo and
 * voices over stereo noise at least 0.95.
 */
const MOST_SHARED = 0.5;
/** A channel says something of its own where it leads for this long in all, in stretches of at least the other. */
const LEAST_OWN_SECONDS = 0.4;
const LEAST_STRETCH_SECONDS = 0.1;
/** Blocks count that are within this of the loudest, and above the noise of their channel. */
const ACTIVE_DECIBELS = 30;
const NOISE_PART = 0.1;
/** One channel is the other upside down: mixed, they would cancel. */
const INVERTED_CORRELATION = -0.5;

/**
 * Decides over a whole recording how its two channels are to be heard. They stay `apart` where each is louder by far than
 * the other at some time and seldom both are alike, as on a call with a channel for each party; one alone is taken where the
 * other has nothing of its own, or is the same upside down.
 */
export function compareChannels({ left, right, correlation }: MeasuredChannels): ChannelChoice {
  const leads = leadsOf(left, right);
  const shared = leads.active === 0 ? 1 : 1 - (leads.left + leads.right) / leads.active;
  if (shared > MOST_SHARED) {
    if (correlation > INVERTED_CORRELATION) return "mixed";
    return sum(left) >= sum(right) ? "left" : "right";
  }
  const least = LEAST_OWN_SECONDS * BLOCKS_PER_SECOND;
  if (leads.right < least || leads.rightInStretches < least) return "left";
  if (leads.left < least || leads.leftInStretches < least) return "right";
  return "apart";
}

/** Blocks in which there is something to hear, and those in which a channel leads: in all, and in stretches. */
function leadsOf(left: Levels, right: Levels) {
  const floors = { left: powerOf(noiseOf(left)), right: powerOf(noiseOf(right)) };
  const loud = Histogram.of(left.map((level, block) => Math.max(level, right[block] ?? 0))).percentile(0.95);
  const leastPower = powerOf(loud) / 10 ** (ACTIVE_DECIBELS / 10);
  const lead = 10 ** (LEAD_DECIBELS / 10);
  const leads = { active: 0, left: 0, right: 0, leftInStretches: 0, rightInStretches: 0 };
  let stretch = 0;
  const close = () => {
    const blocks = Math.abs(stretch);
    if (blocks >= LEAST_STRETCH_SECONDS * BLOCKS_PER_SECOND) {
      if (stretch > 0) leads.leftInStretches += blocks;
      else leads.rightInStretches += blocks;
    }
    stretch = 0;
  };
  for (let block = 0; block < left.length; block++) {
    const l = Math.max(0, powerOf(left[block] ?? 0) - 2 * floors.left);
    const r = Math.max(0, powerOf(right[block] ?? 0) - 2 * floors.right);
    const isActive = Math.max(l, r) > leastPower;
    const side = !isActive ? 0 : l > lead * r ? 1 : r > lead * l ? -1 : 0;
    if (isActive) leads.active++;
    if (side > 0) leads.left++;
    if (side < 0) leads.right++;
    if (side === 0 || side * stretch < 0) close();
    stretch += side;
  }
  close();
  return leads;
}

function noiseOf(levels: Levels): number {
  return Histogram.of(levels).percentile(NOISE_PART);
}

const powers = Float64Array.from({ length: 256 }, (_, level) => 10 ** (decibelsOf(level) / 10));

function powerOf(level: number): number {
  return powers[level] ?? 0;
}

function sum(levels: Levels): number {
  return levels.reduce((total, level) => total + level, 0);
}
