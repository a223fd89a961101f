import type { Recording } from "../database/index.ts";

/** Bounds of the number of speakers, which are equal if it is known exactly. */
export interface SpeakerBounds {
  readonly minSpeakers?: number;
  readonly maxSpeakers?: number;
}

/** Returns the bounds that a recording was created with. */
export function boundsOf({ minSpeakers, maxSpeakers }: Recording): SpeakerBounds {
  return {
    ...(minSpeakers === null ? {} : { minSpeakers }),
    ...(maxSpeakers === null ? {} : { maxSpeakers }),
  };
}

/** A track with the number of speakers that were found without bounds. */
interface FoundSpeakers {
  /** 0 for a track without words. */
  readonly speakers: number;
  readonly seconds: number;
}

/**
 * Returns the number of speakers of each track, so that their sum is within the bounds. A missing speaker is added to
 * the track with the most speech per speaker, a surplus one is removed from the track with the least. Each track with
 * words keeps one speaker, as nobody speaks on two tracks.
 */
export function allotSpeakers(
  { minSpeakers = 1, maxSpeakers = Number.POSITIVE_INFINITY }: SpeakerBounds,
  tracks: readonly FoundSpeakers[],
): number[] {
  const allotted = tracks.map(({ speakers }) => speakers);
  const total = () => allotted.reduce((sum, speakers) => sum + speakers, 0);
  const secondsPerSpeaker = (track: number) => (tracks[track]?.seconds ?? 0) / (allotted[track] ?? 1);
  const change = (track: number | undefined, by: number) => {
    if (track !== undefined) allotted[track] = (allotted[track] ?? 0) + by;
    return track !== undefined;
  };
  const byShare = (least: number) =>
    [...allotted.keys()]
      .filter((track) => (allotted[track] ?? 0) >= least)
      .sort((a, b) => secondsPerSpeaker(a) - secondsPerSpeaker(b));
  while (total() > maxSpeakers && change(byShare(2).at(0), -1));
  while (total() < minSpeakers && change(byShare(1).at(-1), 1));
  return allotted;
}
