import { type Chunk, type Span, secondsOf } from "./spans.ts";
import { SpeechClock } from "./speech-clock.ts";

/** Longest silence that is transcribed with the speech around it. Of a longer one, half of this stays at either end. */
const MAX_SILENCE_SECONDS = 2;
/** Tolerance for rounding: times are sums, so a silence of exactly the longest length may come out slightly longer. */
const ROUNDING_SECONDS = 1e-6;

/** Returns the spans of a chunk that are transcribed, in order: all but the middle of long silences. */
export function transcribedSpans({ startSeconds, endSeconds, speech }: Chunk): Span[] {
  const spans: Span[] = [];
  let from = startSeconds;
  let reached = startSeconds;
  for (const [index, region] of speech.entries()) {
    if (index > 0 && region.startSeconds - reached > MAX_SILENCE_SECONDS + ROUNDING_SECONDS) {
      spans.push({ startSeconds: from, endSeconds: reached + MAX_SILENCE_SECONDS / 2 });
      from = region.startSeconds - MAX_SILENCE_SECONDS / 2;
    }
    reached = Math.max(reached, region.endSeconds);
  }
  return [...spans, { startSeconds: from, endSeconds }];
}

/** Returns the part of a chunk between two moments of the recording. */
export function clipChunk({ speech }: Chunk, { startSeconds, endSeconds }: Span): Chunk {
  const inside = speech.filter((region) => region.startSeconds < endSeconds && region.endSeconds > startSeconds);
  return {
    ...{ startSeconds, endSeconds },
    speech: inside.map((region) => ({
      startSeconds: Math.max(startSeconds, region.startSeconds),
      endSeconds: Math.min(endSeconds, region.endSeconds),
    })),
  };
}

/** Returns the moment of the recording that halves the transcribed audio of a chunk. */
export function chunkMidpoint(chunk: Chunk): number {
  const clock = new SpeechClock(transcribedSpans(chunk), chunk);
  return clock.recordingTime(clock.totalSeconds / 2);
}

/** Returns the seconds of audio of a chunk that are transcribed. */
export function chunkAudioSeconds(chunk: Chunk): number {
  return transcribedSpans(chunk).reduce((sum, span) => sum + secondsOf(span), 0);
}
