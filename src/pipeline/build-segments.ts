import type { Segment, SegmentSpan } from "../segments/index.ts";
import { runsBySpeaker, type SpokenWord } from "./assign-speakers.ts";
import { splitSentences } from "./split-sentences.ts";

/** Minimum length of a segment: its end must lie after its start, in whole milliseconds. */
const MIN_SECONDS = 0.01;

/**
 * Builds segments from words. A segment ends where the speaker changes and, within one speaker's words, at the ends of
 * sentences, if there are any. It never ends inside a word.
 * @param words in order of their start
 * @param from earliest start of a segment, in seconds
 */
export function buildSegments(words: readonly SpokenWord[], from = 0): Segment[] {
  let earliest = from;
  return runsBySpeaker(words.filter((word) => word.text.trim() !== ""))
    .flatMap(splitSentences)
    .map((group, index): Segment => {
      const first = group[0] as SpokenWord;
      const startSeconds = Math.max(earliest, first.startSeconds);
      earliest = startSeconds;
      const endSeconds = Math.max(startSeconds + MIN_SECONDS, ...group.map((word) => word.endSeconds));
      const text = group
        .map((word) => word.text)
        .join("")
        .trim();
      return { index, startSeconds, endSeconds, speaker: first.speaker, text, words: group };
    });
}

/**
 * Merges the segments of all tracks in order of their starts. No speaker is on two tracks; speakers are renumbered in
 * order of first appearance.
 * @param tracks each track's segments, in order
 * @returns the segments, and the new numbers of each track's speakers
 */
export function mergeTracks<S extends SegmentSpan>(tracks: readonly (readonly S[])[]) {
  const numbers = tracks.map(() => new Map<number, number>());
  let speakers = 0;
  const segments = tracks
    .flatMap((own, track) => own.map((segment) => ({ segment, numbers: numbers[track] })))
    .sort((a, b) => a.segment.startSeconds - b.segment.startSeconds)
    .map(({ segment, numbers: ofTrack }, index): S => {
      const speaker = ofTrack?.get(segment.speaker) ?? speakers++;
      ofTrack?.set(segment.speaker, speaker);
      return { ...segment, index, speaker };
    });
  return { segments, numbers };
}
