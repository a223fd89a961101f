import type { SegmentSpan } from "../recordings/index.ts";

/**
 * Merges the segments of all tracks in order of their starts. No speaker is on two tracks; speakers are renumbered in
 * order of first appearance.
 * @param tracks each track's segments, in order
 */
export function mergeTracks<S extends SegmentSpan>(tracks: readonly (readonly S[])[]): S[] {
  const numbers = new Map<string, number>();
  return tracks
    .flatMap((segments, track) => segments.map((segment) => ({ segment, voice: `${track} ${segment.speaker}` })))
    .sort((a, b) => a.segment.startSeconds - b.segment.startSeconds)
    .map(({ segment, voice }, index) => {
      const speaker = numbers.get(voice) ?? numbers.size;
      numbers.set(voice, speaker);
      return { ...segment, index, speaker };
    });
}
