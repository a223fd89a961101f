import { type Chunk, heardPieces, Reaching, type Span, SpeechClock } from "../timeline/index.ts";
import { packChunks } from "./diarization/index.ts";

/**
 * Packs a recording's speech into chunks for the recognizer.
 * @param regions in order and disjoint
 * @param joinsTurns whether a chunk may continue after a long silence, of which the recognizer then gets only both ends. On
 *   one side of a call the other person speaks in such silences; chunks that ended there would be many and short.
 */
export function planChunks(regions: readonly Span[], totalSeconds: number, joinsTurns: boolean): Chunk[] {
  const chunks = joinsTurns ? packJoined(regions, totalSeconds) : packChunks(regions, totalSeconds);
  const reaching = new Reaching(regions);
  return chunks.map((chunk) => ({ ...chunk, speech: reaching.into(chunk) }));
}

/** Packs by a clock that stands still in the middle of long silences. */
function packJoined(regions: readonly Span[], totalSeconds: number): Span[] {
  const whole = { startSeconds: 0, endSeconds: totalSeconds };
  const clock = new SpeechClock(heardPieces({ ...whole, speech: [...regions] }), whole);
  const heard = regions.map(({ startSeconds, endSeconds }) => ({
    startSeconds: clock.at(startSeconds),
    endSeconds: clock.at(endSeconds),
  }));
  return packChunks(heard, clock.totalSeconds, { maxGapSeconds: Number.POSITIVE_INFINITY }).map((chunk) => ({
    startSeconds: clock.moment(chunk.startSeconds),
    endSeconds: clock.moment(chunk.endSeconds),
  }));
}
