import { type Merge, mergeDown, type VoiceGroup } from "./linkage.ts";

/** Bounds of the number of speakers, which are equal if it is known exactly. */
export interface SpeakerBounds {
  /** From 1. */
  readonly min: number;
  /** `Infinity` for no bound. */
  readonly max: number;
}

/**
 * Returns the least seconds of clean speech of a speaker: 3 s; 2 % in recordings under 150 s of speech, and 0.1 % over
 * 50 minutes, because chance produces more false speakers in long recordings.
 */
function leastSeconds(groups: readonly VoiceGroup[]): number {
  const total = groups.reduce((sum, group) => sum + group.seconds, 0);
  return Math.min(0.02 * total, Math.max(3, 0.001 * total));
}

/** Removes speakers with too little clean speech, but leaves at least `fewest`. */
export function withoutSmall(groups: readonly VoiceGroup[], fewest = 1): VoiceGroup[] {
  const least = leastSeconds(groups);
  const large = groups.filter((group) => group.seconds >= least);
  if (large.length >= fewest) return large.length > 0 ? large : [...groups];
  const longest = new Set(groups.toSorted((a, b) => b.seconds - a.seconds).slice(0, fewest));
  return groups.filter((group) => longest.has(group));
}

/**
 * Divides voices into at least `fewest` speakers, where their similarity alone gives fewer. Of all cuts of the tree of
 * merges, it takes the coarsest one with so many speakers of enough speech. If there is none, it takes the cut whose
 * speaker at that place has the most speech. Fewer are returned only if there are fewer voices.
 */
export function divide(voices: readonly VoiceGroup[], merges: readonly Merge[], fewest: number): VoiceGroup[] {
  const least = leastSeconds(voices);
  let best: VoiceGroup[] = [];
  let most = -1;
  for (let count = Math.min(fewest, voices.length); count <= voices.length && most < least; count++) {
    const groups = mergeDown(voices, merges, Number.POSITIVE_INFINITY, count);
    const seconds = groups.map((group) => group.seconds).sort((a, b) => b - a)[fewest - 1] ?? 0;
    if (seconds > most) [best, most] = [groups, seconds];
  }
  return withoutSmall(best, fewest);
}
