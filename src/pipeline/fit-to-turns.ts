import type { SegmentSpan } from "../recordings/index.ts";
import type { Turn } from "../timeline/index.ts";

/**
 * Maximum distance, in seconds, by which a segment's ends move out to its speaker's turn.
 * Compared with segments that end with their words, DER fell from 7.3 to 5.4 % on the built dialogues, from 39.1 to
 * 31.3 % on the AMI excerpts and from 15.6 to 10.6 % on the telephone sample. With 1 s, AMI has 32.7 %.
 */
const REACH_SECONDS = 2;

/**
 * Moves the ends of segments out to the edges of their speakers' turns. A pause within a turn, and speech for which the
 * recognizer wrote no words, belong to the segment before. Segments stay in order, keep their words, and never reach
 * into the next segment of the same speaker.
 * @param segments in order of their starts; speakers have the same numbers as in the turns
 * @param turns in order of their starts; they may overlap
 */
export function fitToTurns<S extends SegmentSpan>(segments: readonly S[], turns: readonly Turn[]): S[] {
  const turnsOf = Map.groupBy(turns, (turn) => turn.speaker);
  const nexts = nextStarts(segments);
  const places = new Map<number, { turn: number; endSeconds: number }>();
  let earliestStart = 0;
  return segments.map((segment, index) => {
    const own = turnsOf.get(segment.speaker) ?? [];
    const place = places.get(segment.speaker) ?? { turn: 0, endSeconds: 0 };
    while ((own[place.turn]?.endSeconds ?? Number.POSITIVE_INFINITY) <= segment.startSeconds) place.turn++;
    let last = place.turn;
    while ((own[last + 1]?.startSeconds ?? Number.POSITIVE_INFINITY) < segment.endSeconds) last++;
    const begins = own[place.turn]?.startSeconds ?? Number.POSITIVE_INFINITY;
    const ends = begins < segment.endSeconds ? (own[last]?.endSeconds ?? 0) : 0;
    const earliest = Math.max(begins, segment.startSeconds - REACH_SECONDS, place.endSeconds, earliestStart);
    const latest = Math.min(ends, segment.endSeconds + REACH_SECONDS, nexts[index] ?? Number.POSITIVE_INFINITY);
    earliestStart = Math.min(segment.startSeconds, earliest);
    place.endSeconds = Math.max(segment.endSeconds, latest);
    places.set(segment.speaker, place);
    return { ...segment, startSeconds: earliestStart, endSeconds: place.endSeconds };
  });
}

/** Returns, for each segment, the start of the same speaker's next segment. */
function nextStarts(segments: readonly SegmentSpan[]): (number | undefined)[] {
  const starts = new Map<number, number>();
  return segments
    .toReversed()
    .map((segment) => {
      const next = starts.get(segment.speaker);
      starts.set(segment.speaker, segment.startSeconds);
      return next;
    })
    .reverse();
}
