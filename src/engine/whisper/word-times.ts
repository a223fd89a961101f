import type { NativePiece, NativeSegment } from "./addon.ts";

export interface TimedSpan {
  startSeconds: number;
  endSeconds: number;
}

/** Works out when each word of a transcription was spoken. */
export function wordTimes(
  words: { pieces: NativePiece[]; segment: NativeSegment }[],
  samples: Float32Array,
): TimedSpan[] {
  const durationSeconds = samples.length / 16000;
  let before = 0;
  return words.map(({ pieces, segment }) => {
    const aligned = pieces.at(-1)?.alignedEnd ?? -1;
    const guessedStart = pieces.at(0)?.guessedStart ?? -1;
    const guessedEnd = pieces.at(-1)?.guessedEnd ?? -1;
    const start = aligned >= 0 ? before : Math.max(before, (guessedStart >= 0 ? guessedStart : segment.start) / 100);
    const end = (aligned >= 0 ? aligned : guessedEnd >= 0 ? guessedEnd : segment.end) / 100;
    before = Math.min(durationSeconds, Math.max(start + 0.02, end));
    return { startSeconds: Math.min(start, durationSeconds), endSeconds: before };
  });
}
