import { secondsOf } from "./seconds-of.ts";
import type { Chunk, Span } from "./spans.ts";
import { SpeechClock } from "./speech-clock.ts";

/** A longer silence between speech is heard for so long, half of it at either end: what was said before has come to rest. */
const longestSilenceSeconds = 2;
/** Times are sums, so that a silence of just that length may seem longer. */
const roundingSeconds = 1e-6;

/** The pieces of a chunk that whisper hears, in order and joined: all of it but the middle of long silences. */
export function heardPieces({ startSeconds, endSeconds, speech }: Chunk): Span[] {
  const pieces: Span[] = [];
  let from = startSeconds;
  let reached = startSeconds;
  for (const [index, region] of speech.entries()) {
    if (index > 0 && region.startSeconds - reached > longestSilenceSeconds + roundingSeconds) {
      pieces.push({ startSeconds: from, endSeconds: reached + longestSilenceSeconds / 2 });
      from = region.startSeconds - longestSilenceSeconds / 2;
    }
    reached = Math.max(reached, region.endSeconds);
  }
  return [...pieces, { startSeconds: from, endSeconds }];
}

/** The part of a chunk from one moment of the recording to another. */
export function partOfChunk({ speech }: Chunk, { startSeconds, endSeconds }: Span): Chunk {
  const inside = speech.filter((region) => region.startSeconds < endSeconds && region.endSeconds > startSeconds);
  return {
    ...{ startSeconds, endSeconds },
    speech: inside.map((region) => ({
      startSeconds: Math.max(startSeconds, region.startSeconds),
      endSeconds: Math.min(endSeconds, region.endSeconds),
    })),
  };
}

/** The moment at which half of what is heard of a chunk has been heard. */
export function middleOfChunk(chunk: Chunk): number {
  const clock = new SpeechClock(heardPieces(chunk), chunk);
  return clock.moment(clock.totalSeconds / 2);
}

/** How much of a chunk whisper hears. */
export function heardSeconds(chunk: Chunk): number {
  return heardPieces(chunk).reduce((sum, piece) => sum + secondsOf(piece), 0);
}
